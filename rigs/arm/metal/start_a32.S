/* Start of an armv7-A program on QEMU's boards: stacks, vectors, main. */
  .syntax unified
  .arm
  .section .start, "ax"
  .balign 32
vectors:
  b start
  b fault
  b fault
  b fault
  b fault
  b fault
  b interrupt
  b fault
  .global start
start:
  cps #0x12               /* interrupt mode */
  ldr sp, =interrupt_stack
  cps #0x13               /* supervisor mode */
  ldr sp, =stack
  ldr r0, =vectors
  mcr p15, 0, r0, c12, c0, 0
  bl main
  bl leave
interrupt:
  sub lr, lr, #4
  push {r0-r3, r12, lr}
  bl on_interrupt
  ldm sp!, {r0-r3, r12, pc}^
fault:
  mov r0, #99
  bl leave
