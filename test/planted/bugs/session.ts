// Bugs of the session: order, lease, watches, reconnects.
import type { BugsOfFile } from '../planted-bug.ts'

export const session: readonly BugsOfFile[] = [
  {
    file: 'src/session/background.ts',
    caughtBy: 'test/session/background.test.ts',
    bugs: [
      {
        bug: 'settled() resolves before work that was started meanwhile has ended',
        from: 'while (this.#running',
        to: 'if (this.#running',
      },
    ],
  },
  {
    file: 'src/session/connection.ts',
    caughtBy: 'test/session/life/close.test.ts',
    bugs: [{ bug: 'a dropped connection keeps its timer', from: 'this.heartbeat.stop()', to: '' }],
  },
  {
    file: 'src/session/connection.ts',
    caughtBy: 'test/session/life/liveness.test.ts',
    bugs: [
      {
        bug: 'the lease counts from the reply to the connect request, not from the time at which that was sent',
        from: 'const sentAt = this.#connectSentAt ?? readClocks(this.#clock)',
        to: 'const sentAt = readClocks(this.#settings.clock)',
      },
      {
        bug: 'the lease counts from the reply to a request, not from the time at which that was sent',
        from: 'this.session.onReply(',
        to: 'request.sentAt = readClocks(this.#clock)\n    this.session.onReply(',
      },
      {
        bug: 'the lease counts from the reply to a ping, not from the time at which that was sent',
        from: 'if (sentAt !== undefined) this.session.renewLease(sentAt, this.heartbeat.lastAnswered)',
        to: 'if (sentAt !== undefined) this.session.renewLease(readClocks(this.#settings.clock), this.heartbeat.lastAnswered)',
      },
      {
        bug: 'after a stall a reply reaches the holder of a lock before the end of its lease',
        from: 'this.session.lease.check(now)\n',
        to: '',
      },
    ],
  },
  {
    file: 'src/session/connection.ts',
    caughtBy: 'test/session/reconnect.test.ts',
    bugs: [
      {
        bug: 'half a frame of a lost connection is put before the first bytes of the next',
        from: 'this.#framer = new Framer(settings.maxReplyBytes, (bytes, start, end, isOwn) =>\n      this.#onFrame(bytes, start, end, isOwn),\n    )',
        to: 'const shared = settings as ConnectionSettings & { framer?: Framer; connection?: Connection }\n    shared.connection = this\n    this.#framer = shared.framer ??= new Framer(settings.maxReplyBytes, (bytes, start, end, isOwn) =>\n      shared.connection?.#onFrame(bytes, start, end, isOwn),\n    )',
      },
      {
        bug: 'a request that was sent is reported as not sent after the connection was lost',
        from: 'this.#unwritten = 0',
        to: '',
      },
    ],
  },
  {
    file: 'src/session/life/credentials.ts',
    caughtBy: 'test/session/life/credentials.test.ts',
    bugs: [
      {
        bug: 'addAuth() resolves after a reconnect before the server has accepted its credential',
        from: 'this.#unanswered = []',
        to: '',
      },
    ],
  },
  {
    file: 'src/session/observed-frame.ts',
    caughtBy: 'test/session/observed-frame.test.ts',
    bugs: [
      {
        bug: 'a frame that onFrame has received changes when the next bytes arrive',
        from: 'bytes: Buffer.from(frame)',
        to: 'bytes: frame',
      },
    ],
  },
  {
    file: 'src/session/servers/host-provider.ts',
    caughtBy: 'test/session/servers/read-only.test.ts',
    bugs: [
      {
        bug: 'the search for a writable server goes on after the connection has ended',
        from: 'this.#search?.stop()\n    this.#srv?.stopRefreshing()',
        to: 'this.#srv?.stopRefreshing()',
      },
    ],
  },
  {
    file: 'src/session/servers/srv.ts',
    caughtBy: 'test/session/servers/srv.test.ts',
    bugs: [
      {
        bug: 'the timer of a lookup stays after the lookup has ended',
        from: '.finally(() => clock.clearTimeout(timer))',
        to: '',
      },
    ],
  },
  {
    file: 'src/session/session.ts',
    caughtBy: 'test/recipes/locks/leases.test.ts',
    bugs: [
      {
        bug: 'an idle session does not notice that the machine was suspended',
        from: 'ClockJumps.of(this.#settings.clock).add(this.lease)',
        to: '',
      },
    ],
  },
  {
    file: 'src/session/session.ts',
    caughtBy: 'test/session/life/auth.test.ts',
    bugs: [
      {
        bug: 'credentials are not sent again on the next connection',
        from: 'this.#credentials?.resend(connection)',
        to: '',
      },
    ],
  },
  {
    file: 'src/session/session.ts',
    caughtBy: 'test/session/life/close.test.ts',
    bugs: [
      {
        bug: 'a lock still counts as held while the session is being closed',
        from: "this.lease.end(() => new ZooKeeperError('CLOSED', { fate: 'notSent' }))",
        to: '',
      },
      { bug: 'a closed session goes on connecting', from: 'this.hosts.end()', to: '' },
    ],
  },
  {
    file: 'src/session/session.ts',
    caughtBy: 'test/session/life/credentials.test.ts',
    bugs: [{ bug: 'addAuth() hangs when the session ends', from: 'this.#credentials?.end(code)', to: '' }],
  },
  {
    file: 'src/session/session.ts',
    caughtBy: 'test/session/life/liveness.test.ts',
    bugs: [
      {
        bug: 'leaseSignal is not aborted after a stall of the process that outlived the lease',
        from: 'this.lease.check()\n    return this.lease.signal',
        to: 'return this.lease.signal',
      },
    ],
  },
  {
    file: 'src/session/session.ts',
    caughtBy: 'test/session/reconnect.test.ts',
    bugs: [
      {
        bug: 'a notification advances the last zxid, so a reconnect loses the other events of the same multi',
        from: 'this.diagnostics.onEvent(event)',
        to: 'this.diagnostics.onEvent(event)\n    this.#zxidLow = Math.max(this.#zxidLow, Number(zxid))',
      },
      {
        bug: 'queued reads overtake the watches that are set again after a reconnect',
        from: 'this.watches.setAgain(connection, longOf(this.#zxidHigh, this.#zxidLow), state)\n',
        to: 'this.requests.sendQueued(connection)\n    this.watches.setAgain(connection, longOf(this.#zxidHigh, this.#zxidLow), state)\n',
      },
      {
        bug: 'after a slow handshake a ping leaves before the credentials, and the server closes the connection',
        from: 'this.#credentials?.resend(connection)\n',
        to: 'connection.startHeartbeat()\n    this.#credentials?.resend(connection)\n',
      },
    ],
  },
  {
    file: 'src/session/session.ts',
    caughtBy: 'test/session/watches/watch-manager.test.ts',
    bugs: [{ bug: 'watches are not told of the end of the session', from: 'this.watches.end()', to: '' }],
  },
]
