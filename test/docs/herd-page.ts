// Generates docs/herd.md from the result of a run. Pure.
import type { Result } from '../../bench/output/result.ts'
import type { PhaseSummary } from '../../bench/measure/summary.ts'
import { bytes, figure } from '../../bench/output/table.ts'

const NAMES = { ephemeral: 'EphemeralMutex', herd: 'HerdMutex', mutex: 'Mutex', ticket: 'TicketMutex' }
type Name = keyof typeof NAMES
const LOCKS = Object.keys(NAMES) as Name[]

export function herdPage(result: Result): string {
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
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  const table = (head: string[], rows: (string | number)[][]) =>
    [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
  return `# What a herd costs

${n} clients want one lock. One of them holds it, releases it, and asks for it again. What does that cost the other clients, and
the ZooKeeper server? This page compares four locks. Each one solves the problem of the lock before. The figures come from
[one run](herd.json) on Apache ZooKeeper ${result.server.version} (\`${result.commandLine.replace(/ --(json|report) \S+/g, '')}\`, ${result.date.slice(0, 10)}). A script writes
this page from that file, and a test compares the two. \`npm start\` measures the figures again. Its report plays one release of
each lock, frame by frame.

## One ephemeral node

The lock is a node. The client that creates the node holds the lock. The create of every other client fails, and that client
watches the node. When the node is removed, ZooKeeper notifies all of them (\`EphemeralMutex\`).

One release with ${n} contenders: **${events('ephemeral')} notifications, ${frames('ephemeral')} frames, ${bytes(read('ephemeral'))} bytes read**. All notified clients try to
create the node. All creates but one fail, and the losers watch the node again. Handing the lock to one client takes N
notifications, so it takes N² until all have had the lock. The order is not fair either: every release is a race, and a client with
a slow connection may lose each of them.

## A queue, and all watch the directory

A queue makes the lock fair: each client creates a *sequential* node in a directory, and the lowest number holds the lock. To learn
when its turn comes, each client watches the children of the directory, and lists them again when they change (\`HerdMutex\`).

One release: **${events('herd')} notifications, ${bytes(read('herd'))} bytes read.** Each notified client lists all names, with ${perName} bytes each: N lists of N
names. The measured exponent of N in the bytes of a release is ${power('herd')}, so N³ bytes are read until all have had the lock. Of
${n - 1} lists, ${n - 2} only show that it is not the client's turn yet.

A join costs as much as a release, because the watch also fires when a node is added: ${events('herd', 'join')} notifications and
${bytes(read('herd', 'join'))} bytes.

## A queue, and each watches its predecessor

Only one client can be next, and it knows its predecessor in the queue. So each client watches only the node of its predecessor
(\`Mutex\`, as in ZooKeeper's own recipe, in Curator and in kazoo). A release notifies one client.

One release: **${events('mutex')} notification, ${bytes(read('mutex'))} bytes read.** The herd is gone, and one list remains. The notified client lists the
directory to check that it is its turn: its predecessor may have left the queue without ever holding the lock, and then an earlier client
still holds it. A list of N names makes N bytes for a release (measured: ${power('mutex')}), and another list makes ${bytes(read('mutex', 'join'))} for a
join. So N² bytes are read until all have had the lock: ${bytes(n * read('mutex'))} for ${n} releases.

## A queue of numbers

If names are nothing but numbers, a client knows its predecessor without a list. It still has to distinguish a release from another removal
of the watched node. Therefore a release also *writes its number* to the parent, in one transaction with the delete. Two small reads
are then enough: the parent names the watched node, so it was released, and the client's own node still exists, so it is its turn. Only
if the parent names another node does the client list the directory (\`TicketMutex\`).

One release: **${events('ticket')} notification, ${bytes(read('ticket'))} bytes read**, and ${bytes(read('ticket', 'release', sizes[0]))} with ${sizes[0]} contenders. The exponent is
${power('ticket')}. ${n} releases read ${bytes(n * read('ticket'))} bytes, which grows with N.

This has a price. Each release writes to the parent. The lock shares no directory with Curator or kazoo. The parent must not be deleted,
because its counter is the queue. [locks.md](locks.md) says which lock to choose.

## Comparison

${table(
  ['contenders', ...LOCKS.map(lock => NAMES[lock])],
  sizes.map(size => [
    size,
    ...LOCKS.map(lock => `${events(lock, 'release', size)} / ${bytes(read(lock, 'release', size))}`),
  ]),
)}

The table shows notifications / bytes read for one release. They are the same in every run, to the byte. The next table shows the fitted
powers of N for a release, with N from 50:

${table(
  ['', 'notifications', 'bytes read', 'theory', 'bytes until all have had the lock'],
  LOCKS.map(lock => [
    NAMES[lock],
    result.growth.find(({ scenario }) => scenario === lock)?.notifications?.exponent.toFixed(2) ?? '',
    power(lock),
    result.growth.find(({ scenario }) => scenario === lock)?.theory.bytes ?? '',
    `N^${Math.round(Number(growth(lock).power) + 1)}`,
  ]),
)}

## What it means for the server

- **Network.** ${bytes(read('herd'))} bytes for one release take ${figure((read('herd') * 8) / 1e9)} s on a gigabit line. The herd cannot hand the
  lock over faster, even with faster processors.
- **Processor.** A release with ${busy} contenders took the server ${work('ephemeral')} ms of processor time for \`EphemeralMutex\`, ${work('herd')} for
  \`HerdMutex\`, ${work('mutex')} for \`Mutex\` and ${work('ticket')} for \`TicketMutex\`. (Compare these figures, and do not quote them: they depend on
  the machine.)
- **Other clients.** Notifications, replies and pings of a session share its connection, and all sessions share the stages of the server. A
  client that only wants to read a node waits until the lists are sent. If a ping waits too long, its session expires, its ephemeral nodes are
  removed, and that causes another herd.
- **Ensembles do not help with writes.** Reads and notifications are spread over the servers, but the failing creates of
  \`EphemeralMutex\` all go to the leader.

The same holds for everything that many clients watch, not only for locks. If N sessions watch one node and read it again, each change costs N
notifications and N reads. That cost is linear, and intended. A herd is different: N clients are notified of a change that concerns one.
`
}
