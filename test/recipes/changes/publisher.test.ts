import { expect } from 'chai'
import fc from 'fast-check'
import { Publisher } from '../../../src/recipes/changes/publisher.ts'
import type { Client } from '../../../src/index.ts'

/** The difference of two sets of numbers; undefined if they are equal. */
function difference(before: readonly number[] | undefined, after: readonly number[]) {
  const added = after.filter(each => before?.includes(each) !== true)
  const removed = (before ?? []).filter(each => !after.includes(each))
  return added.length + removed.length > 0 ? { added, removed } : undefined
}

const noClient = undefined as unknown as Client

describe('a loop over the changes of a state', () => {
  it('is told each time the difference to what it was told before, however slowly it reads', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.constant('read' as const), fc.subarray([0, 1, 2, 3, 4])), { maxLength: 12 }),
        async steps => {
          const publisher = new Publisher('/path', difference, [] as readonly number[])
          const loop = publisher.iterate({})
          let state: readonly number[] = []
          let known: readonly number[] = []
          const catchUp = async () => {
            // The loop has something to read only if the state differs from what it knows.
            if (difference(known, state) === undefined) return
            const { value } = await loop.next()
            expect(value).to.deep.equal(difference(known, state))
            known = state
          }
          for (const step of steps)
            if (step === 'read') await catchUp()
            else publisher.publish(noClient, (state = step))
          await catchUp()
          publisher.close()
          expect(await loop.next()).to.deep.equal({ value: undefined, done: true })
        },
      ),
      { numRuns: 300 },
    ))
})
