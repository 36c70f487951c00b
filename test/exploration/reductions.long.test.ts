// What the exploration leaves out has no other ends than what it tries.
import { expect } from 'chai'
import { opcodes } from '../../src/protocol/index.ts'
import { explore, type Exploration, type ExploreOptions } from './explorer.ts'
import { contention, mutex, textbook } from './lock-worlds.ts'

describe('every schedule of a small world', function () {
  this.timeout(300_000)

  const endsOf = async (exploration: Exploration, options: ExploreOptions = {}) => {
    const ends = new Set<string>()
    await explore(exploration, { ...options, onEnd: end => ends.add(end) })
    return [...ends].sort()
  }

  it('has the same ends if states are entered again', async () => {
    const exploration = { scenario: contention(textbook, 2), faults: 0 }
    const reduced = await endsOf(exploration)
    expect(reduced).to.have.length.greaterThan(4)
    expect(await endsOf(exploration, { merges: false })).to.deep.equal(reduced)
  })

  for (const [scenario, ...kinds] of [
    [contention(textbook, 2), 'expire'],
    [contention(mutex, 1), 'abort', 'delete', 'cut', 'answers'],
  ] as const)
    it(`has the same ends if the order of different processes is tried too, with one ${kinds.join(', ')}`, async () => {
      const exploration = { scenario, faults: 1, kinds }
      const reduced = await endsOf(exploration)
      expect(reduced).to.have.length.greaterThan(10)
      expect(await endsOf(exploration, { localFirst: false })).to.deep.equal(reduced)
    })

  it('has the same ends, but for the names, if each of two contenders that are alike may begin', async () => {
    const scenario = contention(textbook, 2, { worksFor: 100 })
    const endsWith = async (areAlike: boolean) => {
      const ends = await endsOf({ scenario: { ...scenario, areAlike }, faults: 1, kinds: ['cut'] })
      return [...new Set(ends.map(withoutNames))].sort()
    }
    const reduced = await endsWith(true)
    expect(reduced).to.have.length.greaterThan(20)
    expect(await endsWith(false)).to.deep.equal(reduced)
  })
})

/** Returns the same text for two ends that differ in nothing but which of two contenders is anna. */
function withoutNames(end: string): string {
  const sessions = [...end.matchAll(/"is":"connected","session":"(\d+n)"/g)].map(([, session = '']) => session)
  const [first = '', second = ''] = [...new Set(sessions)].sort()
  const other = new Map(Object.entries({ anna: 'ben', ben: 'anna', [first]: second, [second]: first }))
  const renamed = end.replace(/anna|ben|\d+n/g, name => other.get(name) ?? name)
  const [form] = [end, renamed].map(linesOf).sort()
  return form ?? ''
}

/** The lines in an order that does not depend on names, without uuids. Sessions are created before a contender begins. */
const linesOf = (end: string): string =>
  end
    .replace(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, 'uuid')
    .split(/\n|^\[|(?<=\}),(?=\{"id")|\]$/m)
    .filter(line => !line.includes(`"opcode":${opcodes.createSession}`))
    .sort()
    .join('\n')
