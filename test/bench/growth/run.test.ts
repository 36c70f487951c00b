import { expect } from 'chai'
import { curves } from '../../../bench/growth/curves.ts'
import { findingsOf, type Samples } from '../../../bench/growth/judge.ts'
import { pageOf } from '../../../bench/growth/page.ts'
import { run } from '../../../bench/growth/run.ts'
import { thisMachine } from '../../../bench/result.ts'

describe('a run of the growth benchmark', () => {
  const sizes = [10, 20]
  const rounds = 2
  let samples: Samples
  before(async function () {
    this.timeout(120_000)
    const all = curves.map(curve => ({ ...curve, from: 0 }))
    samples = await run(
      { curves: all, sizesOf: () => sizes, rounds, warmUp: 1, span: 1, execArgv: [] },
      () => undefined,
    )
  })

  it('measures each curve at each size in each round', () => {
    expect(samples.size).to.equal(curves.length)
    for (const [{ crowd, probe, beside }, bySize] of samples) {
      expect([...bySize.keys()], `${crowd}, ${probe}`).to.deep.equal(sizes)
      for (const series of bySize.values()) {
        expect(series.own, `${crowd}, ${probe}`).to.have.length(rounds)
        expect(series.beside).to.have.length(beside === undefined ? 0 : rounds)
        for (const { operations, cost } of [...series.own, ...series.beside]) {
          expect(operations, `${crowd}, ${probe}`).to.be.above(0)
          expect(cost, `${crowd}, ${probe}`).to.be.above(0)
        }
      }
    }
  })

  it('becomes a page that asks the network for nothing, with every curve in it', async () => {
    const page = await pageOf(findingsOf(samples), thisMachine(), new Date())
    expect(page).to.match(/^<!doctype html>/)
    expect(page).not.to.match(/<link|<script|<iframe|@import|url\((?!#)|\bsrc=|\bhref=|undefined|Infinity/)
    expect(page.replaceAll('http://www.w3.org/', '')).not.to.contain('http')
    for (const { about } of curves) expect(page).to.contain(`, ${about}: `)
    expect(page.match(/<svg /g)?.length).to.be.at.least(7)
  })
})
