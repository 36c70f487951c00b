// Moments of the playground that documents show: the site plays them, and the documents of the repository have a picture.

export interface Scene {
  /** The link of a story. It stands just before what the scene is about. */
  readonly link: string
  /** How many frames later the picture is taken. */
  readonly picturedAfter: number
}

/** The scenes by their names. The picture of one is `docs/scene-NAME.webp`. */
export const SCENES: Readonly<Record<string, Scene>> = {
  /** The holder releases, and all others are notified. */
  herd: { link: '1;herd-mutex;12;1;1;143;143.150.r.1', picturedAfter: 12 },
  /** The holder releases, and the next one is notified. */
  queue: { link: '1;mutex;12;1;1;142;142.150.r.1', picturedAfter: 3 },
  /** One of two clients releases, and the other gets the lock. */
  handover: { link: '1;mutex;2;1;1;22;22.110.r.1', picturedAfter: 2 },
}

/** Returns the name of the scene of a picture. Undefined if the picture shows none. */
export const sceneOf = (file: string): string | undefined => /(?:^|\/)scene-(\w+)\.webp$/.exec(file)?.[1]
