// A browser has no NODE_DEBUG, so no debug log is written.

export const debuglog = () => Object.assign((): void => undefined, { enabled: false })
