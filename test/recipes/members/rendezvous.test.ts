import { expect } from 'chai'
import { ownersOf } from '../../../src/recipes/members/rendezvous.ts'

const items = Array.from({ length: 10_000 }, (_, i) => `item-${i}`)
const members = Array.from({ length: 10 }, (_, i) => `host-${i}.example:2000`)

describe('ownersOf()', () => {
  it('gives each of M members about 1/M of the items', () => {
    const counts = new Map<string | undefined, number>()
    for (const owner of ownersOf(items, members).values()) counts.set(owner, (counts.get(owner) ?? 0) + 1)
    for (const member of members) expect(counts.get(member), member).to.be.within(850, 1150)
  })

  it('moves about 1/M of the items when one of M members leaves or joins, and only its own', () => {
    const before = ownersOf(items, members)
    for (const gone of members) {
      const after = ownersOf(
        items,
        members.filter(member => member !== gone),
      )
      const moved = items.filter(item => before.get(item) !== after.get(item))
      expect(moved.every(item => before.get(item) === gone)).to.equal(true)
      expect(moved.length).to.be.within(850, 1150)
    }
  })

  it('does not depend on the order of the members', () => {
    expect([...ownersOf(items, members.toReversed())]).to.deep.equal([...ownersOf(items, members)])
  })

  it('has no owner without members', () => {
    expect([...ownersOf(['a'], [])]).to.deep.equal([['a', undefined]])
  })

  it('always has the same result, because members of different versions must agree', () => {
    const owners = ownersOf(['a', 'b', 'c', 'ü', 'shard 17', 'item-1'], ['one', 'two', 'three'])
    expect([...owners.values()]).to.deep.equal(['one', 'three', 'three', 'three', 'one', 'two'])
  })
})
