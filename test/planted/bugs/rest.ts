// Bugs of the client, the protocol, the runtime, the site and the benchmark.
import type { BugsOfFile } from '../planted-bug.ts'

export const rest: readonly BugsOfFile[] = [
  {
    file: 'bench/fleet/message-queue.ts',
    caughtBy: 'test/bench/fleet/message-queue.test.ts',
    bugs: [
      {
        bug: 'messages between machines that are sent while an item is on its way are lost',
        from: 'while (this.#waiting.length > 0) {',
        to: 'if (this.#waiting.length > 0) {',
      },
    ],
  },
  {
    file: 'site/playground/model/playground.ts',
    caughtBy: 'test/site/playground/playground.test.ts',
    bugs: [
      {
        bug: 'the lesson goes on in a scenario that the reader has started',
        from: "    this.#lessons.leave()\n    if (scenario.recipe !== 'bare-clients')",
        to: "    if (scenario.recipe !== 'bare-clients')",
      },
    ],
  },
  {
    file: 'site/world/channel.ts',
    caughtBy: 'test/site/world/frames.test.ts',
    bugs: [
      {
        bug: 'the frames on a line that is cut count as arrived',
        from: 'for (const { frames } of this.#packets.splice(0)) lose(frames, this.#options.now())',
        to: 'this.#packets.length = 0',
      },
    ],
  },
  {
    file: 'site/world/line.ts',
    caughtBy: 'test/site/world/commands.test.ts',
    bugs: [
      {
        bug: 'a line that the server has closed stays the line of a client that closes it later',
        from: '    if (this.#isClosedByServer) this.#onOver()\n',
        to: '',
      },
    ],
  },
  {
    file: 'site/world/release-link.ts',
    caughtBy: 'test/site/world/release-link.test.ts',
    bugs: [
      { bug: 'the holder releases the lock before the others have queued', from: '    await world.settle()\n', to: '' },
    ],
  },
  {
    file: 'site/world/world.ts',
    caughtBy: 'test/site/world/world.test.ts',
    bugs: [
      {
        bug: 'a command in the past keeps the commands that followed in the story',
        from: '      this.#pending = []\n',
        to: '',
      },
    ],
  },
  {
    file: 'src/client/connect.ts',
    caughtBy: 'test/client/connect.test.ts',
    bugs: [
      {
        bug: 'a connect() that has timed out goes on connecting',
        from: 'reject(reason)\n      session.destroy()',
        to: 'reject(reason)',
      },
      { bug: 'the timer of connect() closes the session later', from: 'clock.clearTimeout(timer)\n', to: '' },
    ],
  },
  {
    file: 'src/client/operations.ts',
    caughtBy: 'test/client/multi.test.ts',
    bugs: [
      {
        bug: 'a multi reads its reply by the operations that the caller has changed after the call',
        from: 'const given = ops.map((op): MultiOp => ({ ...op }))',
        to: 'const given: readonly MultiOp[] = [...ops]',
      },
    ],
  },
  {
    file: 'src/client/pace.ts',
    caughtBy: 'test/client/pace.test.ts',
    bugs: [
      { bug: 'each pause of a loop leaves a listener to the states', from: "client.off('state', onState)", to: '' },
    ],
  },
  {
    file: 'src/client/recursive.ts',
    caughtBy: 'test/client/validation.test.ts',
    bugs: [
      {
        bug: 'deleteRecursive() rejects while it still deletes',
        from: "(await Promise.allSettled(tasks)).find(({ status }) => status === 'rejected')",
        to: '(await Promise.all(tasks).then(() => undefined, reason => ({ status: "rejected", reason }))) as PromiseRejectedResult | undefined',
      },
    ],
  },
  {
    file: 'src/client/supervise.ts',
    caughtBy: 'test/client/lost-sessions.test.ts',
    bugs: [
      { bug: 'the next session of supervise() finds the nodes of the lost one', from: 'lost.add(client)', to: '' },
    ],
  },
  {
    file: 'src/client/supervise.ts',
    caughtBy: 'test/client/supervise.test.ts',
    bugs: [
      {
        bug: 'supervise() asks the old servers after updateServerList()',
        from: 'target = { ...client[internals]().session.hosts.servers, chroot: target.chroot }',
        to: '',
      },
    ],
  },
  {
    file: 'src/protocol/writer.ts',
    caughtBy: 'test/protocol/jute.test.ts',
    bugs: [
      {
        bug: 'a write is overwritten by the next one before the socket has sent it',
        from: 'sharedSlab.offset = this.#offset',
        to: 'sharedSlab.offset = this.#start',
      },
    ],
  },
  {
    file: 'src/protocol/writer.ts',
    caughtBy: 'test/session/requests/limits.test.ts',
    bugs: [
      {
        bug: 'a request that is too long leaves a part of itself before the next one',
        from: 'this.truncate(before)',
        to: '',
      },
    ],
  },
  {
    file: 'src/runtime/callbacks.ts',
    caughtBy: 'test/session/requests/order.test.ts',
    bugs: [
      {
        bug: 'watch callbacks run after the promises of later replies',
        from: 'void RESOLVED.then(() => this.now(callback, value))',
        to: 'setImmediate(() => this.now(callback, value))',
      },
    ],
  },
]
