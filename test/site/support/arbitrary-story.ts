// Any story that a link can have.
import fc from 'fast-check'
import {
  CREATE_MODES,
  ENSEMBLES,
  LIMITS,
  RECIPES,
  WRITE_PROTECTIONS,
  ensembleOf,
  type Call,
  type Command,
  type RecipeId,
  type Scenario,
  type Story,
} from '../../../site/world/story.ts'

/** The characters of names. ZooKeeper allows none above the basic multilingual plane. */
const CHARACTERS = Array.from('ab.;%/ é中-_~!*\'()#&=?"<')
const name = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom(...CHARACTERS) })
const path = fc
  .array(
    name.map(text => text.replaceAll(/[/.]/g, 'x')),
    { maxLength: 4 },
  )
  .map(names => `/${names.join('/')}`)
const data = fc.string({ maxLength: 20, unit: 'grapheme' })
const watched = { path, watch: fc.boolean() }

const call: fc.Arbitrary<Call> = fc.oneof(
  fc.record({ op: fc.constant('create' as const), path, data, mode: fc.constantFrom(...CREATE_MODES) }),
  fc.record({ op: fc.constantFrom('get' as const, 'exists' as const, 'children' as const), ...watched }),
  fc.record({ op: fc.constant('set' as const), path, data }),
  fc.record({ op: fc.constantFrom('delete' as const, 'sync' as const, 'increment' as const), path }),
  fc.record({ op: fc.constant('add watch' as const), path, recursive: fc.boolean() }),
)

function commandIn(scenario: Scenario): fc.Arbitrary<Command> {
  const client = fc.integer({ min: 1, max: scenario.clients })
  const { voters, observers } = ensembleOf(scenario)
  const server = fc.integer({ min: 1, max: voters + observers })
  const seconds = fc.integer({ min: 1, max: LIMITS.seconds })
  const plain = ['release', 'join', 'kill', 'cut', 'lose answer', 'expire'] as const
  return fc.oneof(
    fc.record({ kind: fc.constantFrom(...plain), client }),
    fc.record({ kind: fc.constantFrom('stop' as const, 'unplug' as const), client, seconds }),
    fc.record({ kind: fc.constant('write' as const), client, protection: fc.constantFrom(...WRITE_PROTECTIONS) }),
    fc.record({ kind: fc.constant('call' as const), client, call }),
    fc.record({ kind: fc.constant('delete node' as const), path }),
    fc.record({ kind: fc.constantFrom('restart server' as const, 'cut off' as const, 'heal' as const), server }),
    fc.record({ kind: fc.constant('lag' as const), server, seconds: fc.integer({ min: 0, max: LIMITS.lag }) }),
  )
}

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  recipe: fc.constantFrom(...(Object.keys(RECIPES) as RecipeId[])),
  clients: fc.integer({ min: 1, max: LIMITS.clients }),
  servers: fc.constantFrom(...ENSEMBLES.map(({ id }) => id)),
  seed: fc.integer({ min: 0, max: 0xffff_ffff }),
})

const steps = { frames: fc.integer({ min: 0, max: 100 }), ms: fc.integer({ min: 0, max: 100_000 }) }

export const stories: fc.Arbitrary<Story> = scenarios.chain(scenario =>
  fc
    .record({
      frames: fc.integer({ min: 0, max: LIMITS.frames }),
      later: fc.option(fc.integer({ min: 1, max: LIMITS.at }), { nil: undefined }),
      commands: fc.array(fc.record({ ...steps, do: commandIn(scenario) }), { maxLength: 20 }),
    })
    .map(({ frames, later, commands }) => {
      let [after, at] = [0, 0]
      return {
        scenario,
        commands: commands.map(each => ({ after: (after += each.frames), at: (at += each.ms), do: each.do })),
        frames,
        ...(later !== undefined && { later }),
      }
    }),
)
