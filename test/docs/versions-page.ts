// The tables of docs/versions.md that follow from declarations. Pure.
import {
  curator,
  goZooKeeper,
  kazoo,
  newestCurator,
  newestKazoo,
  zookeeperVersions,
  type DebianPackage,
  type OtherVersion,
  type SuitePackages,
} from '../../environment/needs.ts'
import { has, isAtLeast, type Change } from '../../environment/server-version.ts'
import { suiteOf } from '../../environment/zookeeper-versions.ts'

/** The suite of Debian whose packages are installed, and its ZooKeeper. */
const INSTALLED = 'bookworm'
const INSTALLED_ZOOKEEPER = '3.8.0'
/** The releases on which the suite versions was run by hand. */
const BY_HAND = ['3.4.14', '3.5.10', '3.6.4', '3.7.2', '3.8.6', '3.9.5', '3.10.0-SNAPSHOT']

/** A library whose recipes share nodes with ours in the suite interop, by the package that names its version. */
interface PeerRow {
  library: string
  need: DebianPackage | SuitePackages
  packageName: string
  shares: string
}

const LOCKS_AND_DATA = 'locks, elections, barriers, counters, '

export const peerRows: readonly PeerRow[] = [
  ...[curator, newestCurator].map(need => ({
    library: 'Curator',
    need,
    packageName: 'libcurator-recipes-java',
    shares: `${LOCKS_AND_DATA}groups, services`,
  })),
  ...[kazoo, newestKazoo].map(need => ({
    library: 'kazoo',
    need,
    packageName: 'python3-kazoo',
    shares: `${LOCKS_AND_DATA}queues, leases, groups`,
  })),
  { library: 'go-zookeeper', need: goZooKeeper, packageName: 'golang-github-go-zookeeper-zk-dev', shares: 'locks' },
]

const branches: readonly (readonly [title: string, version: string])[] = [
  ...[['3.4', '3.4.13'] as const, ['3.5', '3.5.10'] as const, ['3.6', '3.6.4'] as const],
  ...[['3.7.0, 3.7.1', '3.7.1'] as const, ['3.7.2', '3.7.2'] as const, ['3.8.0, 3.8.1', '3.8.0'] as const],
  ...[['3.8.2 and later', '3.8.6'] as const, ['3.9', '3.9.3'] as const, ['3.10', '3.10.0'] as const],
]

const since35: Change = 'creates with a Stat, containers, removal of watches, TLS'
const since36: Change = 'persistent watches, multiRead, getEphemerals, getAllChildrenNumber'

const features: readonly (readonly [feature: string, change: Change, without: string])[] = [
  ['containers', since35, 'persistent nodes instead'],
  ['nodes with a TTL, TLS, `getConfig`, `reconfig`, `removeWatches`, `checkWatches`', since35, 'no'],
  ['`addWatch`, `multiRead`, `getEphemerals`, `getAllChildrenNumber`', since36, 'no'],
  ['`whoAmI`', 'whoAmI', 'no'],
  ['the `stat` of a create in a multi (ZOOKEEPER-4026)', 'ZOOKEEPER-4026', 'null'],
  ['the `zxid` of events (ZOOKEEPER-4655)', 'ZOOKEEPER-4655', 'no'],
]

/** A switch of the server, not a change of what it has. */
const DIGEST_MD5 = [
  ...['DIGEST-MD5', ...Array<string>(7).fill('yes'), 'up to 3.9.5; then as in 3.10'],
  'only without FIPS mode, which is the default (ZOOKEEPER-5043)',
]

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [row(head), `|${'---|'.repeat(head.length)}`, ...rows.map(row)].join('\n')

const byVersion = (a: string, b: string) => (isAtLeast(a, b) ? 1 : -1)

/** @param versionOf the version of a peer */
export function tablesOf(versionOf: (peer: PeerRow) => string): readonly string[] {
  const others = Object.keys(zookeeperVersions) as OtherVersion[]
  const inCI = [INSTALLED_ZOOKEEPER, ...others].sort(byVersion).map(version => {
    const suite = version === INSTALLED_ZOOKEEPER ? INSTALLED : suiteOf(version as OtherVersion)
    return [version, `Debian ${suite}`, 'by `npm run suite -- versions`, also in CI']
  })
  return [
    table(
      ['ZooKeeper', 'from', 'tested in the repository'],
      [...inCI, [BY_HAND.join(', '), 'Apache', 'once each, by hand']],
    ),
    table(
      ['feature', ...branches.map(([title]) => title)],
      [
        ['nodes, watches, `multi`, all recipes', ...branches.map(() => 'yes')],
        ...features.map(([feature, change, without]) => [
          feature,
          ...branches.map(([, version]) => (has(version, change) ? 'yes' : without)),
        ]),
        DIGEST_MD5,
      ],
    ),
    table(
      ['library', 'version', 'from', 'shares with ours'],
      peerRows.map(peer => {
        const suite = 'suite' in peer.need ? peer.need.suite : INSTALLED
        return [peer.library, versionOf(peer), `Debian ${suite}`, peer.shares]
      }),
    ),
  ]
}

/** Returns the page with other tables in place of those with the same head. */
export const withTables = (page: string, tables: readonly string[]): string =>
  tables.reduce((text, made) => {
    const [head = ''] = made.split('\n')
    const start = text.indexOf(`${head}\n`)
    if (start === -1) throw new Error(`the page has no table ${head}`)
    const end = text.indexOf('\n\n', start)
    return text.slice(0, start) + made + text.slice(end)
  }, page)
