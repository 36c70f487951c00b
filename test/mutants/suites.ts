// The files that StrykerJS changes, by suite, and the tests that must notice.

export interface Suite {
  /** Patterns of StrykerJS. */
  mutate: readonly string[]
  tests: readonly string[]
  /**
   * Parts of the titles of tests that are left out, because they take seconds, and so would each mutant that they reach.
   */
  without?: readonly string[]
  /** The least share of the mutants in a file that tests must notice. */
  least: number
}

/** Tests on Apache's server run outside the virtual time, and notice nothing that those in it do not. */
const onApache = 'on Apache ZooKeeper'

export const suites: Readonly<Record<string, Suite>> = {
  pure: {
    mutate: [
      'src/options/checks.ts',
      'src/protocol/*.ts',
      '!src/protocol/{index,entry,constants}.ts',
      'src/recipes/queue/turn.ts',
      'src/recipes/locks/ticket.ts',
      'src/session/servers/{backoff,connect-string,failed-attempts,hosts,system-failures}.ts',
      'src/session/life/lease.ts',
    ],
    tests: [
      'test/options/checks.test.ts',
      'test/protocol/{brand,errors,explain,frames,golden,jute,multi,paths,request-frame}.test.ts',
      'test/recipes/locks/ticket.test.ts',
      'test/recipes/queue/turn.test.ts',
      'test/session/life/lease.test.ts',
      'test/session/servers/{backoff,connect-string,failed-attempts,hosts,rebalance,system-failures}.test.ts',
    ],
    without: [
      '100,000 operations',
      '50 000 of them',
      'before bytes arrive',
      'does not appear if',
      'however the stream is cut',
      'in single bytes',
      'is never written again',
      'is separate from the chunks',
    ],
    least: 0.9,
  },
  client: {
    mutate: ['src/client/*.ts', '!src/client/{index,recipe-support}.ts'],
    tests: ['test/client/!(real-server).test.ts', 'test/session/watches/*.test.ts', 'test/session/requests/*.test.ts'],
    without: [onApache, 'on sockets', 'in proportion to the depth', 'linear time', 'is tested here if', 'NODE_DEBUG'],
    least: 0.7,
  },
  cli: {
    mutate: ['src/cli/**/*.ts', '!src/cli/main.ts', '!src/cli/process.ts'],
    tests: ['test/cli/!(process)/**/*.test.ts', 'test/cli/*.test.ts'],
    without: [onApache],
    least: 0.5,
  },
  data: {
    mutate: ['src/recipes/data/*.ts'],
    tests: ['test/recipes/data/!(worlds).test.ts'],
    without: [onApache],
    least: 0.7,
  },
  members: {
    mutate: ['src/recipes/members/*.ts'],
    tests: ['test/recipes/members/*.test.ts'],
    without: [onApache],
    least: 0.7,
  },
}
