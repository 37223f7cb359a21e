/* Text for LaTeX: escapes special characters, and spells signs that its fonts lack. */
#ifndef INASIM_DATA_TEX_H
#define INASIM_DATA_TEX_H

/* The caller frees. */
char *tex_text(const char *text);

#endif
