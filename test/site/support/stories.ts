// Stories with every recipe and every command, for the tests of worlds.
import { RECIPES, type Command, type RecipeId, type Scenario, type Story } from '../../../site/world/story.ts'
import { World } from '../../../site/world/world.ts'

/** Lets these commands happen one after the other, each at rest, and returns the story. */
export async function storyOf(scenario: Scenario, commands: readonly Command[], pause = 0): Promise<Story> {
  const world = await World.open(scenario)
  await world.settle()
  for (const command of commands) {
    await world.act(command)
    await world.settle()
    await world.advance(pause)
  }
  const { story } = world
  await world.close()
  return story
}

const commands: Readonly<Partial<Record<RecipeId, readonly Command[]>>> = {
  'ephemeral-mutex': [
    { kind: 'expire', client: 1 },
    { kind: 'join', client: 1 },
  ],
  'herd-mutex': [
    { kind: 'release', client: 1 },
    { kind: 'lose answer', client: 2 },
    { kind: 'release', client: 2 },
  ],
  mutex: [
    { kind: 'stop', client: 1, seconds: 12 },
    { kind: 'cut', client: 2 },
    { kind: 'write', client: 2, protection: 'guard' },
  ],
  'mutex-without-look-ahead': [
    { kind: 'kill', client: 1 },
    { kind: 'unplug', client: 2, seconds: 8 },
  ],
  'ticket-mutex': [
    { kind: 'release', client: 1 },
    { kind: 'join', client: 1 },
  ],
  'leader-election': [
    { kind: 'restart server', server: 1 },
    { kind: 'release', client: 1 },
  ],
  'bare-clients': [
    { kind: 'call', client: 1, call: { op: 'create', path: '/a', data: 'é', mode: 'persistent' } },
    { kind: 'call', client: 2, call: { op: 'get', path: '/a', watch: true } },
    { kind: 'call', client: 3, call: { op: 'add watch', path: '/', recursive: true } },
    { kind: 'call', client: 1, call: { op: 'set', path: '/a', data: '' } },
    { kind: 'delete node', path: '/a' },
  ],
}

const servers: Readonly<Partial<Record<RecipeId, Scenario['servers']>>> = {
  mutex: 3,
  'bare-clients': 3,
  semaphore: 3,
  barrier: '3 and an observer',
  'read-write-lock': '3 and an observer',
}

/** One story for each recipe, with its commands; some on several servers. */
export const storyOfEach = (recipe: RecipeId): Promise<Story> => {
  return storyOf(
    { recipe, clients: 4, servers: servers[recipe] ?? 1, seed: 4_000_000_000 },
    commands[recipe] ?? [{ kind: 'release', client: 1 }],
    15_000,
  )
}

export const recipeIds = Object.keys(RECIPES) as RecipeId[]
