// A real server with a TLS port in addition to the plaintext port.
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import type { Certificate, CertificateAuthority } from './certificates.ts'
import { freePort } from '../../environment/free-port.ts'

export interface SecureZooKeeper {
  server: ApacheZooKeeper
  securePort: number
}

export async function startSecureZooKeeper(
  certificate: Certificate,
  clients: CertificateAuthority,
  clientAuth: 'none' | 'need' = 'none',
  home?: string,
): Promise<SecureZooKeeper> {
  const securePort = await freePort()
  const config = {
    secureClientPort: securePort,
    secureClientPortAddress: '127.0.0.1',
    serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
    'ssl.keyStore.location': certificate.file,
    'ssl.keyStore.type': 'PEM',
    'ssl.trustStore.location': clients.file,
    'ssl.trustStore.type': 'PEM',
    'ssl.clientAuth': clientAuth,
  }
  return { server: await startApacheZooKeeper({ config, home }), securePort }
}
