import { expect } from 'chai'
import { verdictsOf, type Samples } from '../../../bench/throughput/verdict.ts'
import { tableOf, verdictTableOf } from '../../../bench/throughput/table.ts'
import type { Workload } from '../../../bench/throughput/workloads.ts'

const workload: Workload = {
  name: 'getData 64',
  on: 'server',
  measure: { is: 'steady', op: 'getData', inFlight: 64 },
  by: ['zkwire', 'raw', 'zookeeper'],
  targets: [
    { figure: 'cpu', by: { subject: 'raw' }, atMost: 1.25 },
    { figure: 'rate', by: { subject: 'raw' }, atLeast: 0.4 },
  ],
}
const samples: Samples = new Map([
  [
    'getData 64',
    new Map([
      ['zkwire', [9, 7, 8].map(us => ({ operations: 1000, cpu: us * 1000, ms: 50, p50: 0.5, p99: 2.25 }))],
      ['raw', [5, 4, 6].map(us => ({ operations: 1000, cpu: us * 1000, ms: 40 }))],
    ] as const),
  ],
])

describe('the tables of the throughput benchmark', () => {
  it('have a line for each measured subject, with medians and the spread', () => {
    const [head = '', ...lines] = tableOf([workload], samples).split('\n')
    expect(head.split(/ {2,}/)).to.include.members([
      'workload',
      'subject',
      'CPU us/op',
      'op/s',
      'p50 ms',
      'KB each',
      'server us/op',
    ])
    expect(lines.map(line => line.split(/ {2,}/))).to.deep.equal([
      ['getData 64', 'zkwire', '8.00', '7.00 .. 9.00', '20000', '0.500', '2.25', '-', '-'],
      ['getData 64', 'raw', '5.00', '4.00 .. 6.00', '25000', '-', '-', '-', '-'],
    ])
    expect(new Set([head, ...lines].map(line => line.length)).size, 'columns stand below each other').to.equal(1)
  })

  it('show each target, its ratio, and whether it is met', () => {
    const [, ...lines] = verdictTableOf(verdictsOf([workload], samples)).split('\n')
    expect(lines.map(line => line.split(/ {2,}/))).to.deep.equal([
      ['getData 64', 'CPU : raw', '1.75', '[1.33, 1.80]', 'at most 1.25', 'MISSED'],
      ['getData 64', 'rate : raw', '0.80', '[0.80, 0.80]', 'at least 0.4', 'met'],
    ])
  })
})
