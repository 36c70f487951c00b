// Invented figures of an ensemble with a leader and two followers.
import type { EnsembleFigures, Placed } from '../../../bench/ensemble/figures.ts'
import { latencyOf } from '../../../bench/measure/latency.ts'

const placed = (scenario: string, on: string, notifications: number[], ms: number): Placed => ({
  ...{ scenario, phase: scenario === 'data' ? 'change' : 'release', on, steps: 5, last: ms / 2, ms },
  byServer: notifications.map(count => ({
    ...{ notifications: count, requests: count, bytesSent: 40 * count, bytesReceived: 1000 * count },
  })),
})
const call = (server: number, write: number) => ({
  ...{ server, write: latencyOf([write]), read: latencyOf([0.5]), writes: 70 },
  proposals: [0, 70, undefined],
})
export const figures: EnsembleFigures = {
  servers: [
    { address: 'zk1:2181', role: 'follower', countedBy: 'mntr' },
    { address: 'zk2:2181', role: 'leader', countedBy: 'mntr' },
    { address: 'zk3:2181', role: 'follower', countedBy: undefined },
  ],
  sessions: 10,
  placed: [
    placed('data', 'all servers', [4, 3, 3], 10),
    placed('data', 'one follower', [10, 0, 0], 30),
    placed('herd', 'all servers', [4, 3, 3], 12),
    placed('herd', 'one follower', [10, 0, 0], 36),
  ],
  frameCounts: {
    frames: [
      { clients: [10, 20], server: [10, 20] },
      { clients: [5, 5], server: [5, 5] },
      { clients: [5, 5], server: undefined },
    ],
    agree: true,
  },
  calls: [call(0, 2), call(1, 1), call(2, 4)],
  handOvers: [
    { from: 0, to: 2, latency: latencyOf([5]) },
    { from: 2, to: 0, latency: latencyOf([7]) },
    { from: 1, to: 1, latency: latencyOf([1]) },
  ],
  leaderLoss: {
    ...{ leader: 'zk2:2181', newLeaderMs: 900, firstWriteMs: 1000, longestPauseMs: 1100, usualPauseMs: 5 },
    ...{
      sessions: 36,
      disconnected: 36,
      expired: 0,
      reconnectedMs: 1200,
      overlapped: false,
      watchers: 30,
      informed: 30,
    },
  },
  remarks: ['A remark.'],
}
