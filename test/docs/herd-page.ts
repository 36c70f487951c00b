// docs/herd.md, told with the figures of a run. Pure.
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

${n} clients want one lock. One of them holds it, lets go, and asks again. What does that cost the others, and the ZooKeeper? Four locks, each
the answer to what was wrong with the one before. The figures are of [one run](herd.json) on Apache ZooKeeper ${result.server.version}
(\`${result.commandLine.replace(/ --(json|report) \S+/g, '')}\`, ${result.date.slice(0, 10)}); this page is written from that file by a script,
and a test says that they agree. \`npm start\` measures them anew, and its report plays one release of each, frame by frame.

## One ephemeral node

The lock is a node. Whoever creates it has the lock; the others are refused, and watch it. When it goes, ZooKeeper tells all of them
(\`EphemeralMutex\`).

One release with ${n} contenders: **${events('ephemeral')} notifications, ${frames('ephemeral')} frames, ${bytes(read('ephemeral'))} bytes read**. All of those who
are told try to create the node, all but one are refused, and all of them watch again. It takes N wake-ups to give the lock to one, so N²
until all have had it. And nobody knows who is next: it is a race each time, and who is far away may lose each of them.

## A queue, and all watch the directory

So let them queue: each creates a *sequential* node in a directory, and the lowest number holds the lock. That is fair. But how does one
learn that it is one's turn? Watch the children of the directory, and when they change, list them again (\`HerdMutex\`).

One release: **${events('herd')} notifications, ${bytes(read('herd'))} bytes read.** Each of those who are told asks for a list of all names, ${perName} bytes each: N lists
of N names. The exponent of N in the bytes of a release is measured as ${power('herd')}, so that N³ bytes pass until all have had the lock. Of ${n - 1}
lists, ${n - 2} say no more than "not yet".

It is worse than that: the watch fires for a name that comes as for one that goes. A *join* costs ${events('herd', 'join')} notifications and
${bytes(read('herd', 'join'))} bytes too.

## A queue, and each watches the one before

Only one can be next, and it knows who is before it. So let it watch that node and no other (\`Mutex\`, as in ZooKeeper's own recipe, in
Curator and in kazoo). A release wakes one.

One release: **${events('mutex')} notification, ${bytes(read('mutex'))} bytes read.** The herd is gone. What is left is one list: who wakes lists the directory to be sure that it
is its turn, since the one before may have gone for another reason than a release, and then somebody before that one still holds the lock. One list of N names is N
bytes for a release (measured: ${power('mutex')}), another one for a join (${bytes(read('mutex', 'join'))}), and so N² until all have had the lock: ${n} releases read
${bytes(n * read('mutex'))}.

## A queue by numbers

Can one know without a list? The number before one's own is known without asking, if names are nothing but numbers. And if
whoever releases *writes down its number* in the parent, in one transaction with the delete, then two small reads tell a release from another
kind of end: the parent names the node that was watched, so it was released, and mine is still there, so it is my turn. Only where it does not, one lists (\`TicketMutex\`).

One release: **${events('ticket')} notification, ${bytes(read('ticket'))} bytes read**, and with ${sizes[0]} contenders ${bytes(read('ticket', 'release', sizes[0]))}: the same. The exponent is ${power('ticket')}.
${n} releases read ${bytes(n * read('ticket'))}, that is N.

It is not for nothing: it writes to the parent on each release, it shares no directory with Curator or kazoo, and the parent must stay, since its
counter is the queue. [locks.md](locks.md) says when to take which.

## Side by side

${table(
  ['contenders', ...LOCKS.map(lock => NAMES[lock])],
  sizes.map(size => [
    size,
    ...LOCKS.map(lock => `${events(lock, 'release', size)} / ${bytes(read(lock, 'release', size))}`),
  ]),
)}

Notifications / bytes read, of one release. The same to the byte in each run. As powers of N, bytes of a release fitted over N from 50 on:

${table(
  ['', 'notifications', 'bytes read', 'theory', 'until all have had it'],
  LOCKS.map(lock => [
    NAMES[lock],
    result.growth.find(({ scenario }) => scenario === lock)?.notifications?.exponent.toFixed(2) ?? '',
    power(lock),
    result.growth.find(({ scenario }) => scenario === lock)?.theory.bytes ?? '',
    `N^${Math.round(Number(growth(lock).power) + 1)}`,
  ]),
)}

## What it means for the server

- **The line.** ${bytes(read('herd'))} bytes for one release are ${figure((read('herd') * 8) / 1e9)} s of a gigabit line: the herd
  cannot hand the lock over faster, whatever the processors do.
- **The processor.** A release with ${busy} contenders took the server ${work('ephemeral')} ms of processor time for \`EphemeralMutex\`, ${work('herd')} for \`HerdMutex\`,
  ${work('mutex')} for \`Mutex\` and ${work('ticket')} for \`TicketMutex\`. (On one machine: compare them, do not quote them.)
- **Everybody else.** Notifications, answers and pings of a session share its connection, and all sessions share the server's stages. Who only wants to
  read a node waits behind the lists; and a ping that waits too long is a session that ends, an ephemeral node that goes, and another herd.
- **Ensembles do not help with writes.** Reads and notifications are spread over the servers; the refused creates of \`EphemeralMutex\` all
  go to the leader.

The same holds for whatever many watch, not for locks alone: N sessions that watch one node and read it again cost N notifications and N reads
per change. That is what they asked for, and it is linear. A herd is when N are told what concerns one.
`
}
