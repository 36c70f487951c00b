// Runs programs of the editor in this process, as the page does in a worker. Nothing ends one that loops for ever.
import { RemoteWorld } from '../../../site/lab/remote-world.ts'
import { ServedWorld } from '../../../site/lab/served-world.ts'
import { codeOf, mainOf, RECEIVER, type Script } from '../../../site/lab/script.ts'
import type { StartWorld } from '../../../site/lab/world-port.ts'
import { runToEnd } from '../../../site/playground/model/editor.ts'
import type { Scenario } from '../../../site/world/story.ts'

/** How many lines the constructor of functions puts before the code. */
const BEFORE = 2

export const startInProcess: StartWorld = (text, { answered, failed }) => {
  let world: ServedWorld | undefined
  try {
    const receive = (firstLine: number, lines: number, script: Script) =>
      (world = new ServedWorld(mainOf(firstLine, lines, script)))
    // oxlint-disable-next-line typescript/no-implied-eval -- the text is a program of a test
    const run = new Function(RECEIVER, codeOf(text, BEFORE)) as (receiver: unknown) => void
    run(receive)
  } catch (error) {
    queueMicrotask(() => failed(`Line 1: ${String(error)}`))
  }
  return {
    send: (request, token) => void world?.answer(request).then(answer => answered(answer, token)),
    end: () => void world?.close(),
  }
}

/** Runs a program with these clients to its end, as the button of the page does. The caller closes the world. */
export async function runProgram(text: string, scenario: Partial<Scenario> = {}): Promise<RemoteWorld> {
  const story = {
    scenario: { recipe: 'bare-clients' as const, clients: 3, servers: 1 as const, seed: 1, ...scenario },
    commands: [],
    frames: 0,
  }
  const world = await RemoteWorld.open(startInProcess, { text, story }, 0)
  await runToEnd(world, () => true)
  return world
}
