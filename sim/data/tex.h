/* Text for LaTeX: what has a meaning there is escaped, signs that its fonts lack are spelled in
 * mathematics. */
#ifndef INASIM_DATA_TEX_H
#define INASIM_DATA_TEX_H

/* The caller frees. */
char *tex_text(const char *text);

#endif
