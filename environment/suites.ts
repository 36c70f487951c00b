// The suites of `npm run suite -- NAME`: what each runs, what it needs beside `npm ci`, and whether it needs dist.
import type { NamedProgram } from './named-programs.ts'
import {
  cClient,
  cClientShell,
  cCompiler,
  chromium,
  cSources,
  curator,
  curatorDiscovery,
  etcdServer,
  go,
  goZooKeeper,
  jdk,
  kazoo,
  kerberos,
  kerberosModule,
  lockClients,
  mutationTools,
  newestCurator,
  newestKazoo,
  nodeClients,
  nodeZooKeeperClient,
  postgresql,
  redisServer,
  runtimes,
  shells,
  siteTools,
  tcpdump,
  tmux,
  tshark,
  usersTools,
  webFrameworks,
  zookeeper,
  zookeeperVersions,
  type Need,
} from './needs.ts'

export interface Suite extends NamedProgram {
  /** What is not named here, the suite cannot install. */
  needs: readonly Need[]
  /** Options of mocha. */
  configuration?: readonly string[]
  /** The tests that mocha runs, unless the command line names others. */
  tests?: readonly string[]
}

const mocha = (tests: readonly string[], ...more: readonly string[]) => ({
  ...{ file: 'node_modules/mocha/bin/mocha.js', tests },
  configuration: [...(more.includes('--config') ? [] : ['--config', 'test/mocharc.json']), ...more],
})

const sharedServer = ['--require', './test/support/shared-server.ts']

export const suites: Readonly<Record<string, Suite>> = {
  ensemble: {
    about: 'three real servers that are partitioned and restarted, and the long tests; ten minutes',
    needs: [zookeeper, webFrameworks],
    needsDist: true,
    ...mocha(
      [
        'test/ensemble',
        'test/**/*.long.test.ts',
        'test/simulation',
        'test/recipes/*/*worlds.test.ts',
        'test/recipes/cache/cache-model.test.ts',
        'test/recipes/cache/cache-sizes.test.ts',
        'test/recipes/queue/crowds.test.ts',
        'test/recipes/sizes.test.ts',
        'test/contract/comparison.test.ts',
        'test/faults/mutations.test.ts',
      ],
      '--config',
      'test/ensemble/mocharc.json',
    ),
  },
  interop: {
    about: 'recipes shared with Curator, kazoo, Go and the C client, and authentication by Kerberos',
    needs: [
      ...[zookeeper, jdk, curator, curatorDiscovery, kazoo, cClientShell, cCompiler, cClient, cSources],
      ...[zookeeperVersions['3.9.3'], newestCurator, newestKazoo, goZooKeeper, go],
      ...[nodeZooKeeperClient, nodeClients, ...kerberos, kerberosModule, postgresql],
    ],
    needsDist: true,
    ...mocha(['test/interop'], ...sharedServer),
  },
  versions: {
    about: 'the client and all recipes on each version of ZooKeeper',
    needs: [zookeeper, jdk, curator, curatorDiscovery, kazoo, ...Object.values(zookeeperVersions)],
    ...mocha(['test/versions']),
  },
  cli: {
    about: 'the program zkwire as a process of its own, on both servers',
    needs: [zookeeper, jdk, curator, curatorDiscovery, kazoo, tcpdump, tshark, tmux, ...shells],
    needsDist: true,
    ...mocha(['test/cli/process'], ...sharedServer),
  },
  bench: {
    about: 'the benchmarks, in small, and their parts',
    needs: [zookeeper, redisServer, etcdServer, postgresql, lockClients],
    needsDist: true,
    ...mocha(['test/bench'], ...sharedServer, '--parallel', '--jobs', '2'),
  },
  docs: {
    about: 'the code, the costs and the tables of the README and of docs',
    needs: [siteTools, zookeeper, jdk],
    needsDist: true,
    ...mocha(['test/docs'], '--config', '.mocharc.json', '--parallel', '--jobs', '3'),
  },
  harness: {
    about: 'what the tests share: real servers, the needs of the suites, the check for open resources',
    needs: [zookeeper],
    ...mocha(['test/environment', 'test/support'], ...sharedServer),
  },
  browser: {
    about: 'the report of the benchmark, in Chromium',
    needs: [zookeeper, chromium],
    ...mocha(['test/browser']),
  },
  site: {
    about: 'the site and the playground, in Chromium',
    needs: [siteTools, chromium],
    needsDist: true,
    ...mocha(['test/site']),
  },
  package: {
    about: 'the packed package in Jest, vitest, bundlers and TypeScript',
    needs: [usersTools],
    needsDist: true,
    ...mocha(['test/package'], '--timeout', '120000'),
  },
  runtimes: {
    about: 'the package in Node 20 to 26, Bun, Deno, workerd and Chromium',
    needs: [siteTools, zookeeper, chromium, runtimes],
    needsDist: true,
    ...mocha(['test/runtimes'], ...sharedServer),
  },
  exploration: {
    file: 'test/exploration/main.ts',
    about: 'every schedule of small worlds of recipes, or of those whose title contains a word',
    needs: [],
  },
  soak: {
    file: 'test/soak/soak.ts',
    about: 'every lock in processes that are killed, under every fault, for MINUTES',
    needs: [zookeeper],
  },
  lease: {
    file: 'test/soak/lease.ts',
    about: 'thousands of cuts of servers from each other while sessions hold locks',
    needs: [zookeeper],
  },
  outages: {
    file: 'test/soak/outages.ts',
    about: 'how soon an embedded ensemble has a leader again; ten minutes',
    needs: [zookeeper],
  },
  planted: {
    file: 'test/planted/main.ts',
    about: 'plants bugs which a test must catch, or those whose name contains a word',
    needs: [zookeeper, jdk],
    needsDist: true,
  },
  mutants: {
    file: 'test/mutants/main.ts',
    about: 'StrykerJS changes the files of a suite of test/mutants/suites.ts',
    needs: [zookeeper, jdk, mutationTools],
  },
  playground: {
    file: 'site/playground/main.ts',
    about: 'no tests: writes the page of the playground to site/dist',
    needs: [],
  },
  screenshots: {
    file: 'site/playground/screenshots.ts',
    about: 'no tests: takes the pictures of the playground in docs',
    needs: [chromium],
  },
}

/** Returns the needs of a suite, or of `npm test`; undefined if there is no such suite. */
export const needsOf = (suite: string): readonly Need[] | undefined =>
  suite === 'test' ? [zookeeper, jdk] : suites[suite]?.needs

/**
 * Returns the suite that runs, or an empty string. The script `suite` says in the environment which one it is. Of the
 * other scripts only `test` is a suite: `npm run bench` is not the suite `bench`.
 */
export const runningSuite = ({ SUITE: suite, npm_lifecycle_event: script }: NodeJS.ProcessEnv): string =>
  suite ?? (script === 'test' ? script : '')

/**
 * Checks that the suite that runs has declared a need.
 * @throws Error that names the suite, if it has not
 */
export function expectDeclared(need: Need, suite = runningSuite(process.env)): void {
  if (needsOf(suite)?.includes(need) === false)
    throw new Error(`${suite} needs ${need.name}: add it to the suite in environment/suites.ts`)
}

export async function missingOf(suite: string): Promise<Need[]> {
  const needs = needsOf(suite) ?? []
  const found = await Promise.all(needs.map(async need => need.isInstalled()))
  return needs.filter((_, i) => found[i] !== true)
}

/** Returns what is printed at the start of a suite; empty if it will install nothing. */
export function announcement(suite: string, missing: readonly Need[], isRoot: boolean): string {
  if (missing.length === 0) return ''
  const command = suite === 'test' ? 'npm test' : `npm run suite -- ${suite}`
  const lines = missing.map(need => {
    const other = need.alternatives === 'none.' ? '' : `\n    or provide it yourself: ${need.alternatives}`
    const refused = 'package' in need && !isRoot ? '; only root can, so the tests that need it will fail' : ''
    return `  ${need.name} (${need.how}${refused}): ${need.why}${other}`
  })
  return [`${command} will install what this machine lacks:`, ...lines, ''].join('\n')
}
