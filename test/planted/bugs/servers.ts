// Bugs of the choice of servers: connect strings, the order of hosts, pauses, SRV records, the search for a writable one.
import type { PlantedBug } from '../planted-bug.ts'

const backoff = { file: 'src/session/servers/backoff.ts', caughtBy: 'test/session/servers/backoff.test.ts' }
const failed = {
  file: 'src/session/servers/failed-attempts.ts',
  caughtBy: 'test/session/servers/failed-attempts.test.ts',
}
const connectString = {
  file: 'src/session/servers/connect-string.ts',
  caughtBy: 'test/session/servers/connect-string.test.ts',
}
const hosts = { file: 'src/session/servers/hosts.ts', caughtBy: 'test/session/servers/rebalance.test.ts' }
const provider = { file: 'src/session/servers/host-provider.ts', caughtBy: 'test/session/servers/server-list.test.ts' }
const srv = { file: 'src/session/servers/srv.ts', caughtBy: 'test/session/servers/srv.test.ts' }
const search = { file: 'src/session/servers/writable-search.ts', caughtBy: 'test/session/servers/read-only.test.ts' }

export const servers: readonly PlantedBug[] = [
  {
    ...backoff,
    bug: 'a round through all hosts takes as long as the session lives',
    from: 'time / 2 / hosts',
    to: 'time / hosts',
  },
  {
    ...backoff,
    bug: 'two busy clients take one session from each other without a pause',
    from: 'else if (now - this.#connectedAt < LONGEST_PAUSE) this.#shortConnections++',
    to: 'else if (now < this.#connectedAt) this.#shortConnections++',
  },
  {
    ...hosts,
    bug: 'hosts that stayed silent are tried before the one that answered',
    from: 'findIndex(host => !this.#failed?.has(keyOf(host)))',
    to: 'findIndex(() => true)',
    caughtBy: 'test/session/servers/silent-hosts.test.ts',
  },
  {
    ...backoff,
    bug: 'the pause before an attempt grows to hours',
    from: 'Math.min(longest, FIRST_DELAY',
    to: 'Math.max(0, FIRST_DELAY',
  },
  {
    ...backoff,
    bug: 'all clients of a failed server reconnect at the same moment',
    from: 'delay * (0.5 + random() / 2)',
    to: 'delay',
  },
  {
    ...backoff,
    bug: 'with many hosts, a client notices late that a server is up again',
    from: 'LONGEST_DELAY / hosts',
    to: 'LONGEST_DELAY',
  },
  {
    ...backoff,
    bug: 'a client waits for a silent host, and then for a whole pause',
    from: 'random, longest) - this.#spent)',
    to: 'random, longest))',
  },
  {
    ...backoff,
    bug: 'the time for an attempt grows while hosts refuse the connection',
    from: 'wasSilent ? 1 : -1',
    to: '1',
  },
  {
    ...backoff,
    bug: 'a client whose servers restart often reconnects as late as one that fights with another for its session',
    from: 'this.#failedAttempts < hosts ?',
    to: 'hosts > 0 ?',
  },
  {
    ...backoff,
    bug: 'one silent host uses up the time in which another could have saved the session',
    from: 'time / 2 / hosts',
    to: 'time / 2',
  },
  {
    ...backoff,
    bug: 'two clients take one session from each other without a pause',
    from: 'now - this.#connectedAt < LONGEST_PAUSE',
    to: 'now === this.#connectedAt',
  },
  {
    ...failed,
    bug: 'connect() gives up when one of several hosts has failed permanently',
    from: "if (outlooks.includes('temporary')) return 'temporary'",
    to: "if (outlooks.every(outlook => outlook === 'temporary')) return 'temporary'",
  },
  {
    ...failed,
    bug: 'connect() gives up although one address of a name was only slow',
    from: 'errors.every(({ code',
    to: 'errors.some(({ code',
  },
  {
    ...connectString,
    bug: 'a chroot after each host is taken for one long chroot',
    from: 'if (/,[^/,]*(:\\d+\\s*(,|$)|\\/)/.test(chroot)) return sharedChroot(text, chroot)',
    to: '',
  },
  {
    ...connectString,
    bug: 'the chroot / makes every path start with two slashes',
    from: "chroot === '/' ? '' : chroot]",
    to: 'chroot]',
  },
  {
    ...connectString,
    bug: 'a port above 65535 is accepted',
    from: 'port < 1 || port > 65_535',
    to: 'port < 1',
  },
  {
    ...hosts,
    bug: 'a host that is named twice in different case is tried twice as often',
    from: 'host.toLowerCase()',
    to: 'host',
  },
  {
    ...hosts,
    bug: 'no client moves to the servers that were added',
    from: 'random() >= Math.max(0, growth) / after.length',
    to: 'random() >= 0',
  },
  {
    ...hosts,
    bug: 'all clients of a removed server move to the same kind of host, so the load is uneven',
    from: '1 - toKept, random',
    to: 'toKept, random',
  },
  {
    ...hosts,
    bug: 'a list that has not changed makes the client try the same dead host again',
    caughtBy: 'test/session/servers/srv.test.ts',
    from: 'if (isSame && (current === undefined || this.has(current))) return false',
    to: '',
  },
  {
    ...hosts,
    bug: 'hosts that have just failed are tried first after the next loss of the connection',
    caughtBy: 'test/session/servers/hosts.test.ts',
    from: '(this.#failed ??= new Set()).add(keyOf(host))',
    to: '',
  },
  {
    ...hosts,
    bug: 'the servers of the connect string are tried before those of the configuration',
    caughtBy: 'test/session/servers/hosts.test.ts',
    from: 'this.#takeFrom(this.#queue) ?? this.#takeFrom(this.#fallback)',
    to: 'this.#takeFrom(this.#fallback) ?? this.#takeFrom(this.#queue)',
  },
  {
    ...provider,
    bug: 'a session that leaves its server for another waits before it connects',
    from: 'const pause = this.#isMoving ? 0 : ',
    to: 'const pause = ',
  },
  {
    ...provider,
    bug: 'the preferred host is dialled for ever, although it does not answer any more',
    caughtBy: 'test/session/servers/read-only.test.ts',
    from: 'this.#preferred = undefined\n',
    to: '\n',
  },
  {
    ...provider,
    bug: 'the next session of supervise() does not know the servers of the configuration',
    caughtBy: 'test/client/reconfig-following.test.ts',
    from: 'this.#servers = { ...this.#servers, configured: hosts }',
    to: '',
  },
  {
    ...provider,
    bug: 'the search for a writable server goes on after the connection has ended',
    caughtBy: 'test/session/servers/read-only.test.ts',
    from: 'this.#search?.stop()\n    clock.clearTimeout(this.#refreshTimer)',
    to: 'clock.clearTimeout(this.#refreshTimer)',
  },
  {
    ...provider,
    bug: 'a closed client is kept alive by the timer that looks up SRV records again',
    caughtBy: 'test/session/servers/srv.test.ts',
    from: 'for (const timer of [this.#retryTimer, this.#refreshTimer])',
    to: 'for (const timer of [this.#retryTimer])',
  },
  {
    ...srv,
    bug: 'the final dot of an SRV record becomes part of the host name',
    from: "name.replace(/\\.$/, '')",
    to: 'name',
  },
  {
    ...srv,
    bug: 'the timer of a lookup stays after the lookup has ended',
    from: '.finally(() => clock.clearTimeout(timer))',
    to: '',
  },
  {
    ...search,
    bug: 'a read-only server is taken for one that accepts writes',
    from: 'answer.trim() === WRITABLE',
    to: "answer.startsWith('r')",
  },
  {
    ...search,
    bug: 'read-only servers are asked ten times a second whether they accept writes',
    from: 'FIRST_PAUSE * 2 ** Math.min(probes, 16)',
    to: 'FIRST_PAUSE',
  },
]
