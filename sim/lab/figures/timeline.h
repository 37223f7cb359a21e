/* The timeline of jobs: when they wait, compute and communicate. Private to the figures. */
#ifndef INASIM_LAB_FIGURES_TIMELINE_H
#define INASIM_LAB_FIGURES_TIMELINE_H

#include "lab/figures/figure.h"

/* Reads jobs.csv and iterations.csv of f->dir; false with f->why or f->error. */
bool timeline(struct figure *f);

#endif
