// Calls whose refusal is an answer.
import { isCode, type ErrorCode } from '../protocol/index.ts'

/** Resolves as the call does, or with undefined if it rejects with one of these codes. */
export const unlessRefused = <T>(call: Promise<T>, ...codes: ErrorCode[]): Promise<T | undefined> =>
  call.catch((error: unknown) => {
    if (!isCode(error, ...codes)) throw error
    return undefined
  })
