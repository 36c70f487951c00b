// Generates docs/herd.md from the results of two runs. Pure.
import type { Result } from '../../bench/output/result.ts'
import type { PhaseSummary } from '../../bench/measure/summary.ts'
import { bytes, figure } from '../../bench/output/figures.ts'
import { adviceOf } from '../../bench/model/advice.ts'
import { CONDITIONS } from '../../bench/model/forecast.ts'
import { modelOf } from '../../bench/model/model.ts'
import type { PeersResult } from '../../bench/peers/result.ts'
import { forecastChapter } from './forecast-chapter.ts'
import { peersChapter } from './peers-chapter.ts'

const NAMES = {
  ephemeral: 'EphemeralMutex',
  herd: 'HerdMutex',
  mutex: 'Mutex, lookAhead: false',
  'look-ahead': 'Mutex',
  ticket: 'TicketMutex',
}
type Name = keyof typeof NAMES
const LOCKS = Object.keys(NAMES) as Name[]

/** @param peers the result of `npm run bench -- peers` */
/** @param large a run whose largest size is ten times that of `result` */
export function herdPage(result: Result, peers: PeersResult, large: Result): string {
  const sizes = [...new Set(result.cells.map(({ size }) => size))].sort((a, b) => a - b)
  const n = sizes.at(-1) ?? NaN
  const phase = (lock: Name, name: string, size = n): PhaseSummary => {
    const cell = result.cells.find(each => each.scenario === lock && each.size === size)
    const found = cell?.phases.find(each => each.phase === name)
    if (found === undefined) throw new Error(`the result has no ${name} of ${lock} with ${size}`)
    return found
  }
  const read = (lock: Name, name = 'release', size = n) => phase(lock, name, size).counts.bytesReceived.median
  const events = (lock: Name, name = 'release', size = n) => phase(lock, name, size).counts.notifications.median
  const frames = (lock: Name) => {
    const { framesSent, framesReceived } = phase(lock, 'release').counts
    return framesSent.median + framesReceived.median
  }
  const growth = (lock: Name) => {
    const fitted = result.growth.find(({ scenario }) => scenario === lock)?.bytes
    if (fitted === undefined) throw new Error(`the result has no exponent of ${lock}`)
    return { power: fitted.exponent.toFixed(2), error: (fitted.error ?? NaN).toFixed(2) }
  }
  const power = (lock: Name) => `${growth(lock).power} ± ${growth(lock).error}`
  const perName = Math.round((read('mutex') - read('mutex', 'release', sizes[0])) / (n - (sizes[0] ?? NaN)))
  const busy = sizes.at(-2) ?? n
  const work = (lock: Name) => figure(phase(lock, 'release', busy).serverCpuMs)
  const { verdict } = adviceOf(modelOf(result), 500, CONDITIONS)
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  const table = (head: string[], rows: (string | number)[][]) =>
    [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
  return `# What a herd costs

**Is my herd a problem?** In the repository, this command says at how many contenders your lock breaks, and which one to take:

    npm run bench -- forecast HerdMutex --contenders 500 --hold 100 --round-trip 0.5

Its first line is: *${verdict ?? ''}* The two times are in milliseconds, and \`--help\` lists the other numbers. It measures nothing: it uses
the figures of this page.

For servers that run, this command says which nodes so many sessions watch that one change notifies a herd: \`npx zkwire herds -s HOSTS\`
(see [cli.md](cli.md#herds)).

${n} clients contend for one lock. The client that holds it releases it, and then queues for it again. What does that cost the other clients
and the ZooKeeper server? This page compares five locks. Each of them solves the main problem of the one before it. The figures come from
one run (\`docs/herd.json\` in the repository) on Apache ZooKeeper ${result.server.version} (\`${result.commandLine.replace(/ --(json|report) \S+/g, '')}\`,
${result.date.slice(0, 10)}). A script generates this page from the result file, and a test compares the two. \`npm start\` measures the
figures again. Its report shows one release of each lock, frame by frame.

## One ephemeral node

The lock is a node. The client that creates the node holds the lock. Every other client fails to create it, and watches the node. When the
node is deleted, ZooKeeper notifies all of them (\`EphemeralMutex\`).

One release with ${n} contenders: **${events('ephemeral')} notifications, ${frames('ephemeral')} frames, ${bytes(read('ephemeral'))} bytes
read**. All notified clients try to create the node. One of them succeeds, and the others watch the node again. Each release causes N
notifications, so N² notifications are sent until every client has held the lock. The order is not fair either: every release is a race, and
a client with a slow connection may lose each of them.

## A queue in which all watch the directory

A queue makes the lock fair: each client creates a *sequential* node in a directory, and the client whose node has the lowest number holds
the lock. To learn when it holds the lock, each client watches the children of the directory, and lists them again when they change
(\`HerdMutex\`).

One release: **${events('herd')} notifications, ${bytes(read('herd'))} bytes read.** Each notified client lists all names, so a release
causes N lists of N names, with ${perName} bytes for each name. The bytes of a release grow with N to the power of ${power('herd')}
(measured), so N³ bytes are read until every client has held the lock. Of ${n - 1} lists, ${n - 2} only show that the client must still
wait.

![The stage of the playground: a server, twelve clients around it, and a notification on its way to each of the eleven that
wait for the lock](scene-herd.webp)

![A parabola: the bytes of one release of a HerdMutex with 2 to 60 clients; those of a Mutex and a TicketMutex stay near zero](playground-costs.webp)

The pictures are from the playground, a page in which a client and a server run, with every frame in view.
\`npx zkwire playground\` serves it.

When a client joins the queue, that costs as much as a release, because the watch also fires when a node is added: ${events('herd', 'join')}
notifications and ${bytes(read('herd', 'join'))} bytes.

## A queue in which each watches its predecessor

Only one client can be next, and each client knows its predecessor in the queue. So each client watches only the node of its predecessor
(\`Mutex\` with \`lookAhead: false\`, as in ZooKeeper's own recipe, in Curator and in kazoo). A release notifies one client.

One release: **${events('mutex')} notification, ${bytes(read('mutex'))} bytes read.** There is no herd any more, but still one list. The
notified client lists the directory to check that it now holds the lock. Its predecessor may have left the queue without ever holding the
lock, and then an earlier client still holds it. Because of this list of N names, the bytes of a release grow with N (measured power:
${power('mutex')}). A join also lists the directory, and reads ${bytes(read('mutex', 'join'))} bytes. So N² bytes are read until every
client has held the lock: ${bytes(n * read('mutex'))} for ${n} releases.

## A queue in which each looks ahead

The list of the last lock costs time: from the release to the next holder it takes two round trips, one for the notification and one for the
list. But a client can list the directory while its predecessor still holds the lock. Numbers only grow, so if only the predecessor is ahead
in that list, nobody else will be. To know when to list, each client also watches the node before its predecessor's. To know that its own
node is still there, it watches that too (\`Mutex\` by default).

The next holder then has the lock **one round trip** after the release, which is the least that a lock at a server can need.

One release: **${events('look-ahead')} notifications, ${bytes(read('look-ahead'))} bytes read.** It notifies the next holder, the client
behind it, which lists, and the client that releases. The number of lists is that of the last lock, so the bytes grow alike (measured power:
${power('look-ahead')}). [locks.md](locks.md) has the requests of both locks.

## A queue of numbers

If the names of the nodes are nothing but numbers, a client knows the name of its predecessor without a list. But the predecessor's node may
also be deleted because the predecessor has cancelled or its session has ended. Therefore a client that releases the lock also *writes its
number* to the parent node, in one transaction with the delete. The client behind the next holder is notified
too, and reads the parent: if the number there is that of the released node, only its predecessor is ahead. So this lock also looks ahead,
and its next holder reads nothing after the release. Only if the parent contains another number, the client lists the directory
(\`TicketMutex\`).

One release: **${events('ticket')} notifications, ${bytes(read('ticket'))} bytes read.** With ${sizes[0]} contenders, a release
reads ${bytes(read('ticket', 'release', sizes[0]))} bytes. The measured power of N is ${power('ticket')}. ${n} releases read
${bytes(n * read('ticket'))} bytes, so the total grows with N.

This lock has disadvantages. Each release writes to the parent. The directory cannot be shared with Curator or kazoo. [locks.md](locks.md) says
which lock to choose.

## Comparison

${table(
  ['contenders', ...LOCKS.map(lock => NAMES[lock])],
  sizes.map(size => [
    size,
    ...LOCKS.map(lock => `${events(lock, 'release', size)} / ${bytes(read(lock, 'release', size))}`),
  ]),
)}

The table shows the notifications and the bytes read for one release. They are the same in every run, to the byte. The next table shows the
powers of N, fitted to the releases with 50 or more contenders:

${table(
  ['', 'notifications', 'bytes read', 'theory', 'bytes until all have held the lock'],
  LOCKS.map(lock => [
    NAMES[lock],
    result.growth.find(({ scenario }) => scenario === lock)?.notifications?.exponent.toFixed(2) ?? '',
    power(lock),
    result.growth.find(({ scenario }) => scenario === lock)?.theory.bytes ?? '',
    `N^${Math.round(Number(growth(lock).power) + 1)}`,
  ]),
)}

${peersChapter(peers)}## What it means for the server

- **Network.** ${bytes(read('herd'))} bytes for one release take ${figure((read('herd') * 8) / 1e9)} s on a gigabit line. So the line
  carries at most ${figure(1e9 / (read('herd') * 8))} releases of a \`HerdMutex\` a second, with any processors.
- **Processor.** A release with ${busy} contenders took the server ${work('ephemeral')} ms of processor time for \`EphemeralMutex\`,
  ${work('herd')} for \`HerdMutex\`, ${work('mutex')} for \`Mutex\` with \`lookAhead: false\`, ${work('look-ahead')} for \`Mutex\` and
  ${work('ticket')} for \`TicketMutex\`. (Use these figures only to compare the locks, because they depend on the machine.)
- **Other clients.** The notifications, replies and pings of a session share its connection, and all sessions share the threads of the
  server. A client that only wants to read a node waits until the lists are sent. If a ping waits too long, its session expires and its
  ephemeral nodes are deleted, which causes another herd.
- **Ensembles do not help with writes.** Reads and notifications are spread over the servers, but the leader must process all the failing
  creates of \`EphemeralMutex\`.

The same is true for everything that many clients watch, not only for locks. If N sessions watch one node and read it again, each change
costs N notifications and N reads. That cost is linear, and intended, because the change concerns all N clients. In a herd, N clients are
notified of a change that concerns only one.

${forecastChapter(result, large)}`
}
