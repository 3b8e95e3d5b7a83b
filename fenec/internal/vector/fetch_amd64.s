//go:build !purego

#include "textflag.h"

// func Fetch(words []uint32)
TEXT ·Fetch(SB), NOSPLIT, $0-24
	MOVQ words_base+0(FP), AX
	MOVQ words_len+8(FP), CX

line:
	PREFETCHT0 (AX)
	ADDQ       $64, AX
	SUBQ       $16, CX
	JGT        line
	RET
