// Addresses as text. A reader can paste each one that is shown into a connect string or a command line.

interface HostPort {
  readonly host: string
  readonly port: number | string
}

/** Returns `host:port`, with an IPv6 address in brackets. */
export const hostPortOf = ({ host, port }: HostPort): string =>
  host.includes(':') && !host.startsWith('[') ? `[${host}]:${port}` : `${host}:${port}`

/**
 * Returns the message of an error. Node writes the address of a system error as `::1:2181`, so this puts brackets around
 * it.
 */
export function messageOfSystem({ message, address, port }: Error & { address?: string; port?: number }): string {
  const local = message.replace(/ - Local \((.*):(\d+)\)$/, (_, host: string, its: string) => {
    return ` - Local (${hostPortOf({ host, port: its })})`
  })
  if (address === undefined || port === undefined) return local
  return local.replace(`${address}:${port}`, hostPortOf({ host: address, port }))
}

/**
 * Returns a text that may be a connect string, without what may be a password: all before the last `@`, which may stand
 * in a password too, the values of parameters, and what follows `password=`.
 */
export const withoutSecrets = (text: string): string =>
  text
    .replace(/^(\s*[\w+.-]+:\/\/)?.*@/s, '$1…@')
    .replace(/\?.*$/s, '?…')
    .replace(/((?:passw|pwd|secret|token|credential)[^=:]*[=:])[^;&,]*/gi, '$1…')
