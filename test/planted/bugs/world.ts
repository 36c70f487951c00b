// Bugs of the simulated world of the site, and of its links and lessons.
import type { PlantedBug } from '../planted-bug.ts'

const world = { file: 'site/world/world.ts', caughtBy: 'test/site/world/world.test.ts' }
const link = { file: 'site/world/link.ts', caughtBy: 'test/site/world/link.test.ts' }
const line = { file: 'site/world/line.ts', caughtBy: 'test/site/world/deeds.test.ts' }
const channel = { file: 'site/world/channel.ts', caughtBy: 'test/site/world/frames.test.ts' }
const run = { file: 'site/lessons/lesson-run.ts', caughtBy: 'test/site/lessons/lesson-run.test.ts' }

export const worldBugs: readonly PlantedBug[] = [
  {
    ...world,
    bug: 'a replay does the deeds that follow the frame at which it stands',
    from: 'next.after > Math.min(frames, this.#sent)',
    to: 'next.after > this.#sent',
  },
  {
    ...world,
    bug: 'a deed in the past keeps the deeds that followed in the story',
    from: '      this.#pending = []\n',
    to: '',
  },
  {
    ...world,
    bug: 'a world goes on for ever after the limit of frames',
    from: 'return this.#sent >= LIMITS.frames',
    to: 'return this.#sent > LIMITS.frames * LIMITS.frames',
  },
  {
    ...link,
    bug: 'a link may be written in several ways',
    from: "  if (linkOf(story) !== link) throw new LinkError('The link is damaged.')\n",
    to: '',
  },
  {
    ...link,
    bug: 'a link may name a client that does not exist',
    from: "numberIn('number of a client', 1, scenario.clients)",
    to: "numberIn('number of a client', 1, LIMITS.clients)",
  },
  {
    ...link,
    bug: 'a link contains dots of a path unescaped',
    from: ".replaceAll(/[.!'()*~]/g, escaped)",
    to: '',
  },
  {
    ...line,
    bug: 'a line that the server has closed stays the line of a client that closes it later',
    from: '    if (this.#isClosedByServer) this.#onOver()\n',
    to: '',
  },
  {
    ...line,
    bug: 'more than one answer is lost',
    from: '    this.#line.losesNextAnswer = false\n',
    to: '',
  },
  {
    ...channel,
    bug: 'the frames on a line that is cut count as arrived',
    from: 'for (const { frames } of this.#packets.splice(0)) lose(frames, this.#options.now())',
    to: 'this.#packets.length = 0',
  },
  {
    file: 'site/world/process.ts',
    caughtBy: 'test/site/world/deeds.test.ts',
    bug: 'a process that is stopped goes on with its tasks',
    from: 'if (this.#backlog !== undefined) this.#backlog.push(task)\n    else if',
    to: 'if',
  },
  {
    file: 'site/world/store.ts',
    caughtBy: 'test/site/lessons/lessons.test.ts',
    bug: 'the store outside ZooKeeper accepts an old token',
    from: 'token >= this.#greatest',
    to: 'token > 0n',
  },
  {
    ...run,
    bug: 'a lesson goes on before its question is answered',
    from: 'const isDone = question === undefined || this.#isAnswered',
    to: 'const isDone = true',
  },
  {
    ...run,
    bug: 'a lesson takes a second choice',
    from: ' || this.#chosen !== undefined',
    to: '',
  },
  {
    file: 'src/server/network.ts',
    caughtBy: 'test/server/ensemble.test.ts',
    bug: 'onMessage is called with the leader as sender of all messages',
    from: 'this.#report(peer, this.leading, kind)',
    to: 'this.#report(this.leading, peer, kind)',
  },
  {
    file: 'site/world/simulation.ts',
    caughtBy: 'test/site/world/deeds.test.ts',
    bug: 'messages between servers stay in the picture after they have arrived',
    from: 'filter(({ arrivesAt }) => arrivesAt > this.now)',
    to: 'filter(() => true)',
  },
]
