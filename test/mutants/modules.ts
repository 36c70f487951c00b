// The pure modules that StrykerJS changes, and the tests that must notice.

/** Patterns of StrykerJS. */
export const modules = [
  'src/protocol/*.ts',
  '!src/protocol/index.ts',
  '!src/protocol/entry.ts',
  '!src/protocol/constants.ts',
  'src/recipes/queue/turn.ts',
  'src/recipes/locks/ticket.ts',
  'src/session/servers/{backoff,connect-string,failed-attempts,hosts}.ts',
  'src/session/life/lease.ts',
]

export const tests = [
  'test/protocol/brand.test.ts',
  'test/protocol/errors.test.ts',
  'test/protocol/explain.test.ts',
  'test/protocol/frames.test.ts',
  'test/protocol/golden.test.ts',
  'test/protocol/jute.test.ts',
  'test/protocol/multi.test.ts',
  'test/protocol/option-checks.test.ts',
  'test/protocol/paths.test.ts',
  'test/protocol/request-frame.test.ts',
  'test/recipes/locks/ticket.test.ts',
  'test/recipes/queue/turn.test.ts',
  'test/session/life/lease.test.ts',
  'test/session/servers/backoff.test.ts',
  'test/session/servers/connect-string.test.ts',
  'test/session/servers/failed-attempts.test.ts',
  'test/session/servers/hosts.test.ts',
  'test/session/servers/rebalance.test.ts',
]

/** Tests of these titles are left out. They take seconds, and so would each mutant that they reach. */
export const slowTests = [
  '100,000 operations',
  '50 000 of them',
  'before bytes arrive',
  'does not appear if',
  'however the stream is cut',
  'in single bytes',
  'is never written again',
  'is separate from the chunks',
]
