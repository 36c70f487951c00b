import { expect } from 'chai'
import fc from 'fast-check'
import { SweepingMap } from '../../src/runtime/sweeping-map.ts'

describe('SweepingMap', () => {
  const path = fc.nat({ max: 60 }).map(i => `/${i}`)
  const steps = fc.array(
    fc.oneof(
      fc.record({ do: fc.constant('set' as const), path, value: fc.string() }),
      fc.record({ do: fc.constant('delete' as const), path }),
    ),
    { maxLength: 1000, size: 'max' },
  )

  it('has the same entries as a Map after every step', () => {
    fc.assert(
      fc.property(steps, all => {
        const [map, model] = [new SweepingMap<string>(), new Map<string, string>()]
        for (const step of all) {
          if (step.do === 'set') {
            map.set(step.path, step.value)
            model.set(step.path, step.value)
          } else {
            map.delete(step.path)
            model.delete(step.path)
          }
          expect(map.size).to.equal(model.size)
          expect(map.get(step.path)).to.equal(model.get(step.path))
        }
        expect(new Map(map)).to.deep.equal(model)
      }),
    )
  })

  class Counted extends Map<string, string | undefined> {
    deletes = 0
    override delete(path: string): boolean {
      this.deletes++
      return super.delete(path)
    }
  }

  it('keeps one key for a path that is deleted and set again a thousand times; V8 would keep a thousand', () => {
    const inner = new Counted()
    const map = new SweepingMap(inner)
    for (let i = 0; i < 1000; i++) {
      map.set('/again', 'here')
      map.delete('/again')
    }
    expect(inner.deletes).to.equal(0)
  })

  it('keeps only a few dead keys after ten thousand deletions', () => {
    const inner = new Counted()
    const map = new SweepingMap(inner)
    for (let i = 0; i < 10_000; i++) map.set(`/${i}`, 'here')
    for (let i = 0; i < 10_000; i++) map.delete(`/${i}`)
    expect(map.size).to.equal(0)
    expect(inner.size).to.be.at.most(10)
  })

  it('keeps only a few dead keys if ten thousand paths are set and deleted in turn', () => {
    const inner = new Counted()
    const map = new SweepingMap(inner)
    for (let i = 0; i < 10_000; i++) {
      map.set(`/${i}`, 'here')
      map.delete(`/${i}`)
    }
    expect(inner.size).to.be.at.most(10)
  })
})
