// Generates the chapter of docs/herd.md on the locks of other libraries, from the result of a run. Pure.
import { roundTripsAt, type PeersResult, type RecipeResult } from '../../bench/peers/result.ts'
import { exponent } from '../../bench/peers/table.ts'
import { bytes } from '../../bench/output/figures.ts'

export function peersChapter(result: PeersResult): string {
  const size = Math.max(...result.cells.map(cell => cell.size))
  const small = Math.min(...result.cells.map(cell => cell.size).filter(each => each >= 10))
  const phases = (id: string, of = size) => {
    const cell = result.cells.find(each => each.recipe === id && each.size === of)
    if (cell === undefined) throw new Error(`the result has no ${id} with ${of}`)
    return cell.phases
  }
  const read = (id: string, phase: 'release' | 'join' = 'release') => bytes(phases(id)[phase].tally.bytesReceived)
  const trips = (id: string) => roundTripsAt(result, id, size)?.counted ?? NaN
  const sizes = [...new Set(result.cells.map(cell => cell.size))]
  const sameTrips = result.libraries
    .flatMap(({ recipes }) => recipes)
    .every(({ id }) => sizes.every(each => roundTripsAt(result, id, each)?.counted === trips(id)))
  const growthOf = (id: string) => result.growth.find(({ recipe, phase }) => recipe === id && phase === 'release')
  const remainsOf = (id: string) => {
    const found = result.remains.find(({ recipe }) => recipe === id)
    if (found === undefined) throw new Error(`the result has no remains of ${id}`)
    return found
  }
  const row = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`
  const table = (head: readonly string[], rows: readonly (readonly (string | number)[])[]) =>
    [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
  const rows = (of: (recipe: RecipeResult) => readonly (string | number)[]) =>
    result.libraries.flatMap(({ name: library, version, recipes }) =>
      recipes
        .filter(({ id }) => result.cells.some(({ recipe }) => recipe === id))
        .map(recipe => [`${library} ${version ?? ''}`, `\`${recipe.name}\``, ...of(recipe)]),
    )
  const perName = Math.round(
    (phases('c-mutex').release.tally.bytesReceived - phases('c-mutex', small).release.tally.bytesReceived) /
      (size - small),
  )
  const yesOrNo = (values: readonly boolean[]) => values.map(value => (value ? 'yes' : '**no**')).join(', ')
  const framesOf = (id: string, phase: 'release' | 'join') => {
    const { framesSent, framesReceived } = phases(id)[phase].tally
    return framesSent + framesReceived
  }
  const sinceThen =
    framesOf('mutex', 'join') === 8
      ? ''
      : ` Since that run, a join of our locks that look ahead takes 8 frames instead of 10, because two of
its watches are set by one request.`
  const hasNewest = result.cells.some(({ recipe }) => recipe === 'cn-latch')
  const laterVersions = hasNewest
    ? `- **The newest versions** of Curator and kazoo cost the same, to the byte. Only a \`LeaderLatch\` also reads its own node before it leads, from
  Curator 5.7 on (CURATOR-696): ${trips('cn-latch')} round trips and not ${trips('c-latch')}.`
    : `- **Later versions** may cost more. From Curator 5.7 on, a \`LeaderLatch\` also reads its own node before it leads (CURATOR-696), which is one
  round trip more than in this table.`
  return `## Other people's locks

What do the locks of other libraries cost? One run (\`docs/peers.json\` in the repository, \`${result.commandLine.replace(/ --(json|report|seconds) \S+| --(?= --json)/g, '')}\`,
${result.date.slice(0, 10)}) measured them beside ours on one Apache ZooKeeper ${result.server.version}. Each contender was a session of its own library behind
a proxy that counted the frames. The table shows a release and a join with ${size} contenders: notifications, frames, bytes read, and the
round trips from the release until the next contender had the lock. ${sameTrips ? `These were as many with ${sizes.slice(0, -1).join(' or ')} contenders. ` : ''}All counts
were the same in every step, to the byte.${sinceThen}

${table(
  ['library', 'lock', 'notified', 'frames', 'read', 'round trips', 'power of N', 'join: frames', 'read'],
  rows(({ id }) => [
    phases(id).release.tally.notifications,
    framesOf(id, 'release'),
    read(id),
    trips(id),
    exponent(growthOf(id)?.bytes),
    framesOf(id, 'join'),
    read(id, 'join'),
  ]),
)}

*Handwritten* are our versions of the two locks that programs write on node-zookeeper-client, which has none. \`zoo_lock\` is the one of
ZooKeeper's sources. The power of N belongs to the bytes of a release. It is fitted from ${small} contenders, so constant costs still bend the
line. The result also has times and processor times, which depend on the machine.

- **Almost all queues watch the predecessor**, and so notify one contender. Their bytes differ mostly by the length of the names: a list
  has ${perName} bytes for each name of Curator, which finds its node by a UUID. The names of the handwritten lock are short, and the
  table below shows what that costs.
- **All readers are notified at once** when a writer leaves, and each of them lists the directory: with ${size} contenders ${read('c-read')} bytes
  with Curator, ${read('k-read')} with kazoo and ${read('read')} with zkwire. Here the herd is wanted, but not the lists.
- **Round trips.** The least is one. Most locks need two, because the notified contender lists the directory. ZooKeeper's \`WriteLock\` also
  checks whether the directory exists (${trips('z-lock')}). kazoo's \`Semaphore\` needs ${trips('k-semaphore')}: it lists, creates its lease and checks it.
${laterVersions}
- **A semaphore notifies few, but takes many frames**, because a contender passes a lock before it gets a permit: ${framesOf('c-semaphore', 'release')} frames for a
  release with Curator, ${framesOf('k-semaphore', 'release')} with kazoo, ${framesOf('semaphore', 'release')} with zkwire.
- **The directory is listed twice for a join** by kazoo's \`Lock\` if the object is used again (${read('k-lock', 'join')} bytes), because it searches for a node
  that an earlier attempt may have left.

### What they leave behind

Three of the contenders gave up, one after the other. The table shows the nodes and watches that they left while their sessions lived on.
*Came back* counts those that got the lock after they had given up. Then the connection was lost at the worst moment: the server had created
the node, and its answer was lost. Did that contender get the lock within four seconds? How many nodes and watches did it leave after its
release, and did the next contender get the lock? A semaphore has two creates, and each lost its answer once.

${table(
  [
    'library',
    'lock',
    'nodes',
    'watches',
    'came back',
    'lost answer: got the lock',
    'nodes',
    'watches',
    'next got the lock',
  ],
  rows(({ id }) => {
    const { gaveUp, lostAnswers } = remainsOf(id)
    return [
      ...[gaveUp.nodes, gaveUp.watches, gaveUp.cameBack],
      yesOrNo(lostAnswers.map(({ gotLock }) => gotLock)),
      lostAnswers.map(({ nodes }) => nodes).join(', '),
      lostAnswers.map(({ watches }) => watches).join(', '),
      yesOrNo(lostAnswers.map(({ nextGotLock }) => nextGotLock)),
    ]
  }),
)}

- **A handwritten lock blocks everybody after a lost answer.** Its node has no name by which it could be found. The program creates a
  second node, and waits for its own first one until the session ends. Curator, kazoo and zkwire write a UUID into the name for that.
- **So does ZooKeeper's \`WriteLock\`.** It finds its node, but by the name without the directory, so it never learns that it holds the lock.
- **A watch stays at the server** when a contender of the other libraries gives up, until its predecessor leaves. Where *came back* is not 0,
  that watch makes the library queue again, and it gets a lock that nobody waits for.
- **Killed contenders** left ${result.remains.reduce((sum, { nodesOfKilled }) => sum + nodesOfKilled, 0)} nodes and ${result.watchesAtEnd} watches after their
  sessions had expired, because all locks use ephemeral nodes.

`
}
