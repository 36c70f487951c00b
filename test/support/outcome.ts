// How a call ended, either way: for tests in which both are possible.

export const outcomeOf = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)
