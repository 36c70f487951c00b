// Waiting in virtual time for what needs no time.
import { settle } from '../../src/testing/virtual-clock.ts'

/** Lets happen what needs no time. */
export async function turns(): Promise<void> {
  for (let i = 0; i < 30; i++) await settle()
}
