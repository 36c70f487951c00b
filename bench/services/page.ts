// Writes docs/choosing.md from the result of a run. Pure.
import { median, type Power } from '../measure/statistics.ts'
import { amount, bytes, figure } from '../output/figures.ts'
import { WITHOUT_HAND_OVERS, type Hold } from './open-world.ts'
import { FAULTS, locks as allLocks, otherLibraries, type Fault, type ServiceLock } from './locks.ts'
import { bytesOf, framesOf, growthOf, type ServicesResult } from './result.ts'

/** Returns the locks of the run. An earlier one may lack a lock that has been added. */
export const locksOf = ({ releases }: ServicesResult): ServiceLock[] =>
  allLocks.filter(({ id }) => releases.some(({ lock }) => lock === id))

export function choosingPage(result: ServicesResult): string {
  const locks = locksOf(result)
  const versions = result.services.flatMap(({ name, version }) => (version === undefined ? [] : [`${name} ${version}`]))
  const sizes = [...new Set(result.releases.map(({ size }) => size))]
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)]
  return `# Which lock service

A lock can be had from ZooKeeper, etcd, Redis or PostgreSQL. This page measures their locks on the same axes: what a release costs when
many wait, how long a hand-over takes, what waiting costs, and when the next contender has the lock after a crash. It also says what
each lock does not promise.

All figures are those of one run (\`docs/services.json\`, and \`docs/services.csv\` for a spreadsheet; in the repository),
\`${result.commandLine}\`, ${result.date.slice(0, 10)}: ${versions.join(', ')}, each a single server on one machine with ${result.machine.cores} cores. Each contender had a
connection of its own, through a proxy that counts the frames of its protocol: packets of ZooKeeper, frames of HTTP/2, values of RESP,
messages of PostgreSQL. All data was in memory, so the times leave out what a disk adds to a write of ZooKeeper, etcd and PostgreSQL.
**Counts are the same in each run, but for a few frames of HTTP/2; times depend on the machine**, which had a load of ${result.load.map(figure).join(' and ')} at the start and at the end of the run. Compare their
ratios, not the times.

## What a lock promises

${table(
  ['service', 'lock', 'how a contender waits', 'order', 'fencing token', 'after a holder has died'],
  locks.map(lock => [lock.service, lock.name, lock.how, lock.order, lock.fence, lock.ends]),
)}

- **No lock stops a holder that was paused.** A process that sleeps longer than its session, lease or key lives wakes up and goes on, while
  another one holds the lock. Only a store that compares [fencing tokens](fencing.md) refuses its write. ZooKeeper and etcd have such a
  number. A plain key of Redis has none.
- **PostgreSQL gives a lock away only when its connection has ended**, so a holder that is stopped, or cut off, keeps the lock: see the last table.
  If the server ends the connection (\`tcp_keepalives_idle\`, an administrator, a proxy), the holder learns of it at its next query, and
  meanwhile there may be two. If the data is in the same database, write it in the transaction that holds the lock, and you need no token.
- **Redis may lose a lock with its server.** Its replication is asynchronous, so a replica that takes over may not know the key. ZooKeeper and
  etcd acknowledge a lock when a majority has it. A single Redis or PostgreSQL serves nobody until it is back.

## A release, with ${most} contenders

*Woken* are the contenders to which the server sends something, without the one that releases. Frames and bytes are those of all
connections, in both directions. A power of N close to 0 does not depend on N, and 1 grows with it (${sizes.join(', ')} contenders; ± half of the
95 % interval). *Trips* are the round trips from the release until the next contender has the lock. *Ratio* is the time of a hand-over,
divided by that of ZooKeeper's \`Mutex\`.

${releaseTable(result, most)}

A lock that polls has no traffic of a release. It has one of waiting, in the next table. Its hand-over takes as long as the next of the
waiters sleeps: for \`SET NX PX\` with ${least} of them ${ms(releaseOf(result, 'redis-poll', least)?.ms)}, with ${most} of them ${ms(releaseOf(result, 'redis-poll', most)?.ms)}.

## Waiting

${waitingSection(result)}

## Nobody else wants it

Acquire and release by a contender that is alone: *warm* with a name that it has used before, *cold* with one that nobody has used. The
times are without the proxy. Most locks of programs are of this kind.

${table(
  ['service', 'lock', 'warm: round trips', 'p50, ms', 'p99, ms', 'cold: round trips', 'p50, ms', 'p99, ms'],
  [...locks, ...otherLibraries].flatMap(lock => {
    const found = result.uncontended.find(each => each.lock === lock.id)
    if (found === undefined) return []
    const { warm, cold, trips } = found
    return [
      [
        lock.service,
        lock.name,
        trips.warm,
        figure(warm.p50),
        figure(warm.p99),
        trips.cold,
        figure(cold.p50),
        figure(cold.p99),
      ],
    ]
  }),
)}

${openSection(result)}

## After a crash

The holder's process was killed (\`kill -9\`), or stopped (\`SIGSTOP\`), or its line was cut while its connection stayed open. Sessions,
leases and keys lived for ${result.timeout / 1000} s, and the holder renewed them. The table shows how many seconds later the next contender had the lock: the median
of ${Math.max(...result.crashes.map(({ times }) => times.length))} locks and the longest. Behind it is what the lock promises.

${crashTable(result)}

*Never* means that the next contender had not got the lock after ${Math.max(...result.crashes.map(({ patience }) => patience)) / 1000} s. The server of PostgreSQL notices a line that is cut by
\`tcp_keepalives_idle\`, which is two hours by default, and a holder that is stopped not at all. (Here the proxy answers the keepalives, so
they find nothing.) \`BLPOP\` has no answer to a crash: the element of the list is gone with its holder.

${leaderSection(result)}

## Which one

- **The data is in PostgreSQL already**: take \`pg_advisory_xact_lock\`. It has the fewest moving parts, the server keeps the queue, and a
  release costs ${framesOf(must(releaseOf(result, 'pg-advisory', most)))} frames. Set \`tcp_keepalives_idle\`, and do not hold it for long, because each waiter takes a connection.
- **Two runs are a waste, and no harm, and Redis is there**: \`SET NX PX\` is enough for a lock that few want. If many wait, polling makes
  hand-overs late and never ends its requests, and \`PUBLISH\` wakes all.
- **Two runs do harm**: take ZooKeeper or etcd, with fencing. On these axes they are close. etcd moves fewer bytes for a chain
  (${amount(bytesOf(must(releaseOf(result, 'etcd-mutex', most))))} against ${amount(bytesOf(must(releaseOf(result, 'predecessor', most))))} with ${most} contenders), because it can ask for the key before its own and ZooKeeper lists all of them;
  \`TicketMutex\` avoids the list (${amount(bytesOf(must(releaseOf(result, 'ticket', most))))}). ZooKeeper needs fewer round trips for a hand-over: ${tripsOf(result, 'mutex')} against ${tripsOf(result, 'etcd-mutex')}.
- **Where ZooKeeper loses**: the bytes of a chain grow with N, and those of no lock of etcd or of a queue in a server do. A release of a
  queue in a server moves less: ${amount(bytesOf(must(releaseOf(result, 'redis-list', most))))} for \`BLPOP\` and ${amount(bytesOf(must(releaseOf(result, 'pg-advisory', most))))} for PostgreSQL. A \`Mutex\` of a name that nobody has used takes ${cold(result, 'mutex')} round trips, and a lock of
  the others ${cold(result, 'pg-advisory')}. A holder that is killed keeps its lock until the session ends, where PostgreSQL gives it away at once.
- **Never \`BLPOP\` alone**, unless a lost lock is somebody's job to find.

## How it was measured

By these commands in the repository:

    npm run bench -- services                                 ten minutes at most; installs what is missing, as root
    npm run bench -- services --docs                         also writes this page, docs/services.json and docs/services.csv
    npm run bench -- services --only mutex,pg-advisory --sessions 10,50

The contenders of etcd, Redis and PostgreSQL are small clients in the repository (\`bench/services/contenders\`), which send what the
client named in the table sends: Go's for etcd, redlock and Redisson for Redis. Those of ZooKeeper are the ones of \`npm run bench -- peers\`;
[herd.md](herd.md) compares the locks of its libraries. A round trip is counted with a proxy that delays all bytes.
${packagesSection(result, most)}
${byHandSection(result, most)}
`
}

/** Says where the packages of npm differ from the small clients. */
function packagesSection(result: ServicesResult, most: number): string {
  if (!locksOf(result).some(({ program }) => program === 'npm')) return ''
  const release = (id: string) => must(releaseOf(result, id, most))
  const waiting = (id: string) => {
    const cell = must(result.waiting.findLast(({ lock }) => lock === id))
    return figure(bytesOf(cell) / cell.size)
  }
  return `
The rows that begin with *npm* are packages themselves. They differ from the small clients:

- **redlock** sends a script (\`EVALSHA\`) where \`SET NX PX\` would do: a waiter moves ${waiting('redis-redlock')} bytes a second, and ${waiting('redis-poll')} with the
  small client. It gives up after ten attempts, which takes two seconds, unless \`retryCount\` is -1, as here. \`acquire()\` does not renew the
  lock, and \`using()\` does, 500 ms before it expires.
- **etcd3** has a \`Lock\` that does not wait: it rejects if another one has the lock, and a program that needs it must ask again. Each attempt grants a
  lease, and revokes it: ${waiting('etcd3-lock')} bytes a second of each waiter. Its \`Election\` is the queue of Go's client, but with a lease for each attempt.
  So a release moves ${framesOf(release('etcd3-election'))} frames and not ${framesOf(release('etcd-mutex'))}, and a hand-over takes ${tripsOf(result, 'etcd3-election')} round trips and not ${tripsOf(result, 'etcd-mutex')}.
`
}

/** Says how a reader repeats two rows without this repository. */
function byHandSection(result: ServicesResult, most: number): string {
  const released = (id: string) => must(releaseOf(result, id, most))
  const [redis, pg] = [released('redis-list'), released('pg-advisory')]
  return `## Two rows by hand

The rows of \`BLPOP\` and \`pg_advisory_lock\` can be repeated with the servers' own shells, \`tcpdump\` and \`tshark\`, as root. A release of neither depends on
the number of contenders, so two are enough. Names are part of the bytes. So these are as long as those of the benchmark, and one character
shorter for \`psql\`, which also sends the semicolon.

    redis-server --port 7001 --save '' --daemonize yes
    redis-cli -p 7001 BLPOP ${REDIS_KEY} 0 & sleep 1
    tcpdump -i lo -U -w redis.pcap port 7001 & sleep 1
    redis-cli -p 7001 RPUSH ${REDIS_KEY} 1; sleep 1; kill %2
    tshark -r redis.pcap -Y 'tcp.len > 0' -T fields -e tcp.len     # 61, 50 and 4

These are ${framesOf(redis)} values with ${bytesOf(redis)} bytes, as in the table: the command, the element for the waiter, and the reply. For PostgreSQL, open two shells, \`psql -h 127.0.0.1\`, and in both

    select pg_advisory_lock(hashtext('${PG_NAME}'));

The second one waits. Begin to capture, and release the lock in the first one:

    tcpdump -i lo -U -w pg.pcap port 5432 & sleep 1
    select pg_advisory_unlock(hashtext('${PG_NAME}'));             -- in the first shell
    kill %1; tshark -r pg.pcap -d tcp.port==5432,pgsql -Y 'tcp.len > 0' -T fields -e tcp.len -e pgsql.type

    77    Simple query
    76    Row description,Data row,Command completion,Ready for query
    73    Row description,Data row,Command completion,Ready for query

These are ${framesOf(pg)} messages with ${bytesOf(pg)} bytes. (A connection with TLS shows neither: add \`sslmode=disable\`.)`
}

const REDIS_KEY = '/zkwire-bench-redis-list-----001'
const PG_NAME = '/zkwire-bench-pg-advisory---001'

const NOTHING = '–'

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |`
const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]): string =>
  [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')

const exponent = (power: Power | undefined): string => {
  if (power === undefined) return NOTHING
  // A zero has no sign.
  const text = (value: number) => value.toFixed(2).replace(/^-(0\.00)$/, '$1')
  return `${text(power.exponent)}${power.error === undefined ? '' : ` ± ${text(power.error)}`}`
}

const ms = (value: number | undefined): string => (value === undefined ? NOTHING : `${figure(value)} ms`)

const releaseOf = ({ releases }: ServicesResult, lock: string, size: number) =>
  releases.find(each => each.lock === lock && each.size === size)

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the result lacks a figure that the page quotes')
  return value
}

const tripsOf = ({ trips }: ServicesResult, id: string): number | string =>
  trips.find(({ lock }) => lock === id)?.trips ?? NOTHING

const cold = ({ uncontended }: ServicesResult, id: string): number | string =>
  uncontended.find(({ lock }) => lock === id)?.trips.cold ?? NOTHING

function releaseTable(result: ServicesResult, most: number): string {
  const locks = locksOf(result)
  const unit = releaseOf(result, 'mutex', most)?.ms ?? NaN
  return table(
    ['service', 'lock', 'woken', 'power of N', 'frames', 'bytes', 'power of N', 'trips', 'ms', 'ratio'],
    locks.flatMap(lock => {
      const cell = releaseOf(result, lock.id, most)
      if (cell === undefined) return []
      if (lock.polls)
        return [
          [
            lock.service,
            lock.name,
            ...Array.from({ length: 6 }, () => NOTHING),
            figure(cell.ms),
            figure(cell.ms / unit),
          ],
        ]
      const growth = growthOf(result.releases.filter(each => each.lock === lock.id))
      return [
        [
          ...[lock.service, lock.name, cell.woken, exponent(growth.woken), framesOf(cell), bytes(bytesOf(cell))],
          ...[exponent(growth.bytes), tripsOf(result, lock.id), figure(cell.ms), figure(cell.ms / unit)],
        ],
      ]
    }),
  )
}

function waitingSection(result: ServicesResult): string {
  const rows = locksOf(result).flatMap(lock =>
    result.waiting
      .filter(each => each.lock === lock.id)
      .slice(-1)
      .map(cell => [
        lock.service,
        lock.name,
        cell.size,
        figure(framesOf(cell) / cell.size),
        figure(bytesOf(cell) / cell.size),
      ]),
  )
  const polled = growthOf(result.waiting.filter(({ lock }) => lock === 'redis-poll'))
  return `Frames and bytes a second of each contender, while nothing happens: heartbeats of sessions and leases of 6 s, and the requests of a
lock that polls. A waiter of \`LISTEN\` asks once a second in any case, because nobody notifies it when a holder dies. The requests of all pollers grow with their number (power of N: ${exponent(polled.frames)}), however seldom the lock is released.

${table(['service', 'lock', 'contenders', 'frames a second, each', 'bytes a second, each'], rows)}`
}

function openSection(result: ServicesResult): string {
  const { openWorlds, saturations } = result
  if (saturations.length === 0) return ''
  const locks = locksOf(result)
  const of = (id: string, hold: Hold) => openWorlds.find(each => each.lock === id && each.hold === hold)
  const waits = (id: string, hold: Hold) => {
    const found = of(id, hold)
    return found === undefined ? [NOTHING, NOTHING, NOTHING] : Object.values(found.wait).map(figure)
  }
  const percent = (share: number | undefined) => (share === undefined ? NOTHING : `${Math.round(100 * share)} %`)
  const visits = `

Contenders came at random (a Poisson process, one in 40 ms) and held the lock for 20 ms on average: *light* with an exponential
distribution, *heavy* with a Pareto distribution of exponent 1.5, in which a few hold it for long. So the lock was held for half of the time.
The table shows how many milliseconds a contender waited, and the share of grants that overtook a contender that had come earlier. There were
about ${openWorlds[0]?.arrivals ?? 0} arrivals in each run, the same for each lock, so the 99.9th percentile is the longest wait. A few per cent
of overtaking are no unfairness: two contenders came at nearly the same time, and the request of the later one reached the server first.

${table(
  ['service', 'lock', 'light: p50', 'p99', 'p99.9', 'heavy: p50', 'p99', 'p99.9', 'overtaking, light'],
  locks.map(({ id, service, name }) => [
    ...[service, name, ...waits(id, 'light'), ...waits(id, 'heavy')],
    percent(of(id, 'light')?.overtaking),
  ]),
)}

![The wait of the contenders for each lock, when some hold it for long: median, 99th percentile and the longest](choosing.svg)
`
  const pictures =
    openWorlds.length === 0
      ? ''
      : `

![Jain’s index of each lock, and the share of its grants that overtook nobody](choosing-fairness.svg)

![The grants a second of each lock, beyond which its queue grows without end](choosing-collapse.svg)`
  return `## Contenders that come and go
${openWorlds.length === 0 ? '' : visits}
${saturations[0]?.contenders ?? 0} contenders wanted the lock again as soon as they had released it, and held it for 5 ms. With more arrivals than those grants a second
the queue grows without end: the lock collapses. Jain's index says how evenly the grants were shared out: 1 if each got as many.

${table(
  ['service', 'lock', 'grants a second', `of ${WITHOUT_HAND_OVERS} without hand-overs`, 'Jain’s index'],
  locks.map(({ id, service, name }) => {
    const found = saturations.find(({ lock }) => lock === id)
    return [
      ...[service, name, figure(found?.perSecond), percent(found && found.perSecond / WITHOUT_HAND_OVERS)],
      found?.jain.toFixed(2) ?? NOTHING,
    ]
  }),
)}${pictures}`
}

const FAULT_NAMES: Record<Fault, string> = { kill: 'killed', stop: 'stopped', cut: 'cut off' }

function crashTable(result: ServicesResult): string {
  const { crashes } = result
  const cell = (lock: ServiceLock, fault: Fault): string => {
    const found = crashes.find(each => each.lock === lock.id && each.fault === fault)
    if (found === undefined) return NOTHING
    const times = found.times.flatMap(time => (time === null ? [] : [time / 1000]))
    const promise = found.bound === null ? 'nothing' : found.bound === 0 ? 'at once' : `${figure(found.bound / 1000)} s`
    if (times.length < found.times.length) return `**never** (${promise})`
    return `${figure(median(times))}, ${figure(Math.max(...times))} (${promise})`
  }
  return table(
    ['service', 'lock', ...FAULTS.map(fault => `${FAULT_NAMES[fault]}: median, longest (promised)`)],
    [...locksOf(result), ...otherLibraries].map(lock => [
      ...[lock.service, lock.name],
      ...FAULTS.map(fault => cell(lock, fault)),
    ]),
  )
}

function leaderSection({ leaderLosses }: ServicesResult): string {
  if (leaderLosses.length === 0) return ''
  const rows = leaderLosses.map(({ lock, times, elections }) => {
    const { service, name } = must(allLocks.find(({ id }) => id === lock))
    return [service, name, figure(median(times) / 1000), figure(Math.max(...times) / 1000), elections]
  })
  return `With three servers, the leader was killed, and the holder released at that moment. Seconds until the next contender had the lock, of
${Math.max(...leaderLosses.map(({ times }) => times.length))} runs:

${table(['service', 'lock', 'median', 'longest', 'when an election begins'], rows)}

Neither promises a bound. etcd's time is that of a request that was lost with its leader: the server answers it with an error after 7 s
(5 s, and two election timeouts), and the contender sends it again. A client that gives its requests a shorter deadline has the lock
sooner.`
}
