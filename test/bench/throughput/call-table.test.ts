import { expect } from 'chai'
import { callTableOf, slowdownsOf } from '../../../bench/throughput/call-table.ts'
import type { Samples } from '../../../bench/throughput/verdict.ts'
import type { Sample } from '../../../bench/processes/turns.ts'
import type { SubjectName } from '../../../bench/throughput/workloads.ts'

const rounds = (cpu: number, ms: number): Sample[] =>
  [1, 1.01, 0.99, 1, 1.02].map(drift => ({ operations: 1, cpu: cpu * drift, ms: ms * drift }))

const samplesOf = (workload: string, by: Partial<Record<SubjectName, Sample[]>>): Samples =>
  new Map([[workload, new Map(Object.entries(by) as [SubjectName, Sample[]][])]])

describe('the comparison of calls with another commit', () => {
  it('has a line for each workload, with the costs and the ratios', () => {
    const by = {
      raw: rounds(0.5, 1),
      lean: rounds(1, 1),
      floor: rounds(1.2, 1),
      before: rounds(2, 4),
      zkwire: rounds(1.5, 2),
    }
    const [head = '', line = ''] = callTableOf(samplesOf('getData 64, mock', by)).split('\n')
    expect(line.split(/ {2,}/)).to.deep.equal([
      ...['getData 64, mock', '0.50', '1.00', '1.20', '2.00', '1.50'],
      ...['1.50 [1.50, 1.50]', '1.20 [1.20, 1.20]', '0.75 [0.75, 0.75]', '0.50 [0.50, 0.50]'],
    ])
    expect(line).to.have.length(head.length)
  })

  it('reports a cost that grew by more than 5 %', () => {
    const by = { before: rounds(2, 2), zkwire: rounds(2.2, 2.05) }
    expect(slowdownsOf(samplesOf('getData 64, mock', by))).to.deep.equal([
      'getData 64, mock: the CPU of a call grew to 1.10 [1.10, 1.10] times that of before.',
    ])
    expect(slowdownsOf(samplesOf('getData 64, mock', { ...by, zkwire: rounds(2.05, 2.2) }))).to.deep.equal([
      'getData 64, mock: the time of a call grew to 1.10 [1.10, 1.10] times that of before.',
    ])
  })

  it('does not report the time of a call on a real server, which is the time of the server', () => {
    expect(slowdownsOf(samplesOf('getData 64', { before: rounds(2, 2), zkwire: rounds(2, 4) }))).to.deep.equal([])
  })

  it('does not report a cost that may have grown by less', () => {
    const noisy = [1.2, 1.2, 1.02, 1.3, 1.2].map(cpu => ({ operations: 1, cpu, ms: 1 }))
    expect(slowdownsOf(samplesOf('getData 64', { before: rounds(1, 1), zkwire: noisy }))).to.deep.equal([])
  })
})
