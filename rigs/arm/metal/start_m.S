/* Start of a Cortex-M program: the table of vectors is at 0. */
  .syntax unified
  .thumb
  .section .start, "ax"
  .word stack
  .word start + 1
  .rept 13
  .word fault + 1
  .endr
  .word on_interrupt
  .global start
  .thumb_func
start:
  bl main
  bl leave
  .thumb_func
fault:
  movs r0, #99
  bl leave
