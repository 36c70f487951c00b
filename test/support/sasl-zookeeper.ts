// A real server with SASL users from a JAAS file.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'

/** @param users the passwords, keyed by user name */
export async function startSaslZooKeeper(
  users: Readonly<Record<string, string>>,
  jvm: readonly string[] = [],
): Promise<ApacheZooKeeper> {
  const directory = await mkdtemp(join(tmpdir(), 'jaas-'))
  const file = join(directory, 'jaas.conf')
  const lines = Object.entries(users).map(([user, password]) => `user_${user}=${JSON.stringify(password)}`)
  await writeFile(file, `Server { org.apache.zookeeper.server.auth.DigestLoginModule required ${lines.join(' ')}; };`)
  try {
    // The server reads the file only when it starts.
    return await startApacheZooKeeper({
      config: { 'authProvider.1': 'org.apache.zookeeper.server.auth.SASLAuthenticationProvider' },
      // Since ZOOKEEPER-5043, DIGEST-MD5 is off by default, as FIPS 140 requires.
      jvm: [
        '-Dzookeeper.fips-mode=false',
        `-Djava.security.auth.login.config=${file}`,
        '-Dfile.encoding=UTF-8',
        ...jvm,
      ],
    })
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}
