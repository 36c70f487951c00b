// The part of Cloudflare's declarations that we use, copied to avoid a dependency.
declare module 'cloudflare:sockets' {
  export function connect(address: { hostname: string; port: number }): object
}
