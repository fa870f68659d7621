/* qkscope.h: the whole library. Read the headers in this order; each is the manual of its part.
 * docs/library.md shows how a program is built with it. */
#ifndef QKSCOPE_H
#define QKSCOPE_H

/* clang-format off */
#include "qkscope/status.h"   /* success and failure */
#include "qkscope/capture.h"  /* run a checkpoint over text */
#include "qkscope/captured.h" /* look into what was captured, head by head */
#include "qkscope/analyze.h"  /* all of it, to tables; what any file is; SQL */
#include "qkscope/tables.h"   /* the rows of those tables */
#include "qkscope/moments.h"  /* vectors of your own: streaming moments */
#include "qkscope/head.h"     /* and the numbers of a head from them */
#include "qkscope/run.h"      /* whole studies */
#include "qkscope/init.h"     /* a study file to begin with */
#include "qkscope/figures.h"  /* figures from tables */
#include "qkscope/report.h"   /* a page to explore a study */
#include "qkscope/compare.h"  /* a run against published numbers */
#include "qkscope/sample.h"   /* which heads and positions are captured */
#include "qkscope/tokenize.h" /* text to token ids */
#include "qkscope/version.h"  /* which qkscope this is */
#include "qkscope/isolate.h"  /* give up rights before strangers' files are read */
#include "qkscope/names.h"    /* "did you mean" */
/* clang-format on */

#endif
