// A real server with a TLS port in addition to the plaintext port.
import { connect } from 'node:net'
import { startApacheZooKeeper, type ApacheZooKeeper } from '../../environment/apache-zookeeper.ts'
import type { Certificate, CertificateAuthority } from './certificates.ts'
import { freePort } from '../../environment/free-port.ts'
import { until } from '../../environment/until.ts'

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
  const server = await startApacheZooKeeper({ config, home })
  // The server opens this port after the plaintext port (ZooKeeperServerMain).
  await until(() => isOpen(securePort))
  return { server, securePort }
}

const isOpen = (port: number): Promise<boolean> =>
  new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.on('error', () => resolve(false)).on('connect', () => socket.destroy())
  })
