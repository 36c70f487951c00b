// A browser has no diagnostics channels, so nobody subscribes to one.

export const channel = () => ({ hasSubscribers: false, publish: (): void => undefined })
