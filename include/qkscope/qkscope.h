/* qkscope.h: the whole library. Read the headers in this order; each is the manual of its part. */
#ifndef QKSCOPE_H
#define QKSCOPE_H

#include "qkscope/analyze.h" /* from captured vectors or moments to tables */
#include "qkscope/capture.h" /* a checkpoint over text */
#include "qkscope/compare.h" /* a run against published numbers */
#include "qkscope/moments.h" /* streaming moments of vectors with positions */
#include "qkscope/names.h"
#include "qkscope/report.h"   /* a page to explore a study */
#include "qkscope/run.h"      /* whole studies */
#include "qkscope/sample.h"   /* which heads and positions are captured */
#include "qkscope/status.h"   /* success and failure */
#include "qkscope/tables.h"   /* the rows of those tables */
#include "qkscope/tokenize.h" /* text to token ids */
#include "qkscope/version.h"

#endif
