// Links into the playground that play the releases which the benchmark recorded: the same lock, with as many clients.
import { linkOf } from './story-link.ts'
import type { RecipeId } from './story.ts'
import { World } from './world.ts'

/** The recipe of the playground for each lock of the benchmark. */
const RECIPES: Readonly<Record<string, RecipeId>> = {
  ephemeral: 'ephemeral-mutex',
  herd: 'herd-mutex',
  mutex: 'mutex-without-look-ahead',
  'look-ahead': 'mutex',
  ticket: 'ticket-mutex',
}

const SEED = 1

/**
 * Returns the addresses at which the recorded releases can be played, by their scenarios.
 * @param playground address of the playground's page
 */
export async function releaseAddresses(
  recordings: readonly { scenario: string; phase: string; sessions: number }[],
  playground: string,
): Promise<Map<string, string>> {
  const addresses = new Map<string, string>()
  for (const { scenario, sessions, phase } of recordings) {
    const link = phase === 'release' ? await releaseLink(scenario, sessions) : undefined
    if (link !== undefined) addresses.set(scenario, `${playground}#${link}`)
  }
  return addresses
}

/**
 * Returns the link of a story in which the clients have queued for a lock, and the holder releases it. Undefined if the
 * playground does not have that lock.
 * @param scenario name of the benchmark's scenario
 */
async function releaseLink(scenario: string, clients: number): Promise<string | undefined> {
  const recipe = RECIPES[scenario]
  if (recipe === undefined) return undefined
  const world = await World.open({ recipe, clients, servers: 1, seed: SEED })
  try {
    await world.settle()
    await world.act({ kind: 'release', client: 1 })
    return linkOf(world.story)
  } finally {
    await world.close()
  }
}
