// Exercises of the editor: a program that is broken, the judge who finds it, and a program that is right.
import { LinkError } from '../world/story-link.ts'
import { clientsFor, type WrittenProgram } from './program-link.ts'

export interface Exercise {
  readonly id: string
  readonly title: string
  /** What the program is to do, and what happens instead. Code stands between backticks. */
  readonly task: string
  /** What the judge shows while the program is broken. */
  readonly symptom: 'overlap' | 'never enters' | 'herd'
  readonly clients: number
  /** What makes the exercise hard, in the order of the program: a program without it solves nothing. */
  readonly kept: readonly string[]
  readonly broken: string
  readonly solution: string
}

const PREFIX = 'exercise='
const SOLUTION = '.solution'

const INSIDE = `enter()
await sleep(100)
leave()
`

const WORK = ['enter()', 'await sleep(100)', 'leave()']
/** Client 1 dies inside, with the lock. */
const DEATH = 'await sleep(100)\nif (me === 1) await kill()'
const SLOW = 'await sleep(200)'
const LATE = 'if (me === 1) await sleep(50)'

/** @param create what tries to get the lock */
const spinning = (create: string): string => `while (true)
  try {
    ${create}
    break
  } catch (error) {
    if (error.code !== 'NODEEXISTS') throw error
    await sleep(500)
  }
enter()
${DEATH}
leave()
await zk.delete('/lock')
`

export const EXERCISES: readonly Exercise[] = [
  {
    id: 'owner',
    title: 'Read, then write',
    task: 'A client that finds `/owner` empty writes its number into it, and is the owner. Two clients can be. Mend it with the version that `getData` returns.',
    symptom: 'overlap',
    clients: 3,
    kept: WORK,
    broken: `await zk.create('/owner', '').catch(() => undefined)
while (true) {
  const { data } = await zk.getData('/owner')
  if (data.length === 0) break
  await sleep(20)
}
await zk.setData('/owner', \`\${me}\`)
${INSIDE}await zk.setData('/owner', '')
`,
    solution: `await zk.create('/owner', '').catch(() => undefined)
while (true) {
  const { data, stat } = await zk.getData('/owner')
  if (data.length === 0)
    try {
      await zk.setData('/owner', \`\${me}\`, { version: stat.version })
      break
    } catch (error) {
      if (error.code !== 'BADVERSION') throw error
    }
  await sleep(20)
}
${INSIDE}await zk.setData('/owner', '')
`,
  },
  {
    id: 'dead-owner',
    title: 'The holder dies',
    task: 'The node `/lock` is the lock. Client 1 dies while it holds the lock, and nobody ever gets it. Let the server remove the node of a dead client.',
    symptom: 'never enters',
    clients: 3,
    kept: ['enter()', DEATH, 'leave()'],
    broken: spinning("await zk.create('/lock')"),
    solution: spinning("await zk.create('/lock', '', { mode: 'ephemeral' })"),
  },
  {
    id: 'missed-event',
    title: 'The event that came too early',
    task: 'A client waits for a watch instead of asking again and again. Client 2 is slow, and waits for ever. Which change did it miss, and which answer would have told it?',
    symptom: 'never enters',
    clients: 2,
    kept: [SLOW, ...WORK],
    broken: `while (true) {
  try {
    await zk.create('/lock', '', { mode: 'ephemeral' })
    break
  } catch (error) {
    if (error.code !== 'NODEEXISTS') throw error
  }
  ${SLOW} // this client is slow
  let wake
  const changed = new Promise(resolve => (wake = resolve))
  await zk.exists('/lock', { watch: wake })
  await changed
}
${INSIDE}await zk.delete('/lock')
`,
    solution: `while (true) {
  try {
    await zk.create('/lock', '', { mode: 'ephemeral' })
    break
  } catch (error) {
    if (error.code !== 'NODEEXISTS') throw error
  }
  ${SLOW} // this client is slow
  let wake
  const changed = new Promise(resolve => (wake = resolve))
  const stat = await zk.exists('/lock', { watch: wake })
  if (stat !== null) await changed
}
${INSIDE}await zk.delete('/lock')
`,
  },
  {
    id: 'queue-order',
    title: 'First come, first served',
    task: 'Each client queues with a sequential node, and the first of the queue holds the lock. Client 1 comes last, and enters at once. What does `sort()` compare?',
    symptom: 'overlap',
    clients: 3,
    kept: [LATE, ...WORK],
    broken: `await zk.create('/queue').catch(() => undefined)
${LATE} // client 1 comes last
const { path } = await zk.create(\`/queue/c\${me}-\`, '', {
  mode: 'ephemeralSequential',
})
const own = path.split('/').pop()
while (true) {
  const { children } = await zk.getChildren('/queue')
  if (children.sort()[0] === own) break
  await sleep(20)
}
${INSIDE}await zk.delete(path)
`,
    solution: `await zk.create('/queue').catch(() => undefined)
${LATE} // client 1 comes last
const { path } = await zk.create(\`/queue/c\${me}-\`, '', {
  mode: 'ephemeralSequential',
})
const own = path.split('/').pop()
const number = name => Number(name.slice(-10))
while (true) {
  const { children } = await zk.getChildren('/queue')
  children.sort((a, b) => number(a) - number(b))
  if (children[0] === own) break
  await sleep(20)
}
${INSIDE}await zk.delete(path)
`,
  },
  {
    id: 'herd',
    title: 'Let the herd sleep',
    task: 'The lock is right, but each change of the queue notifies all that wait: look at the number of notifications. Let each client watch only the node before its own.',
    symptom: 'herd',
    clients: 12,
    kept: WORK,
    broken: `await zk.create('/queue').catch(() => undefined)
const { path } = await zk.create('/queue/n-', '', {
  mode: 'ephemeralSequential',
})
const own = path.split('/').pop()
while (true) {
  let wake
  const changed = new Promise(resolve => (wake = resolve))
  const { children } = await zk.getChildren('/queue', { watch: wake })
  if (children.sort()[0] === own) break
  await changed
}
${INSIDE}await zk.delete(path)
`,
    solution: `await zk.create('/queue').catch(() => undefined)
const { path } = await zk.create('/queue/n-', '', {
  mode: 'ephemeralSequential',
})
const own = path.split('/').pop()
while (true) {
  const { children } = await zk.getChildren('/queue')
  children.sort()
  const before = children[children.indexOf(own) - 1]
  if (before === undefined) break
  let wake
  const gone = new Promise(resolve => (wake = resolve))
  const stat = await zk.exists(\`/queue/\${before}\`, { watch: wake })
  if (stat !== null) await gone
}
${INSIDE}await zk.delete(path)
`,
  },
]

/** Returns what a program lacks that its exercise keeps, or has in another order. Undefined if it lacks nothing. */
export function removedFrom({ kept }: Exercise, text: string): string | undefined {
  const code = bare(text)
  let from = 0
  return kept.find(part => {
    const at = code.indexOf(bare(part), from)
    from = at + bare(part).length
    return at === -1
  })
}

/** Returns code without comments, spaces, braces and semicolons, which readers write in different ways. */
const bare = (text: string): string => text.replaceAll(/\/\/.*|[\s{};]/g, '')

/** Returns the link to the broken program of an exercise, such as `exercise=owner`, or to its solution. */
export const exerciseLinkOf = (id: string, part: 'broken' | 'solution' = 'broken'): string =>
  `${PREFIX}${id}${part === 'solution' ? SOLUTION : ''}`

/**
 * Returns the program of the link of an exercise. Undefined if the link is not one.
 * @throws LinkError if there is no such exercise
 */
export function exerciseIn(link: string): WrittenProgram | undefined {
  if (!link.startsWith(PREFIX)) return undefined
  const name = link.slice(PREFIX.length)
  return name.endsWith(SOLUTION)
    ? programOf(exerciseOf(name.slice(0, -SOLUTION.length)), 'solution')
    : programOf(exerciseOf(name), 'broken')
}

/** @throws LinkError if there is no such exercise */
export function exerciseOf(id: string): Exercise {
  const exercise = EXERCISES.find(each => each.id === id)
  if (exercise === undefined) throw new LinkError('The exercise of the link does not exist.')
  return exercise
}

export const programOf = (exercise: Exercise, part: 'broken' | 'solution'): WrittenProgram => ({
  text: exercise[part],
  exercise: exercise.id,
  story: { scenario: clientsFor({ clients: exercise.clients, servers: 1, seed: 1 }), commands: [], frames: 0 },
})
