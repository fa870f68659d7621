/* qkscope.h: the whole library. Read the headers in this order; each is the manual of its part. */
#ifndef QKSCOPE_H
#define QKSCOPE_H

#include "qkscope/analyze.h" /* from captured vectors or moments to tables */
#include "qkscope/moments.h" /* streaming moments of vectors with positions */
#include "qkscope/sample.h"  /* which heads and positions are captured */
#include "qkscope/status.h"  /* success and failure */
#include "qkscope/tables.h"  /* the rows of those tables */
#include "qkscope/version.h"

#endif
