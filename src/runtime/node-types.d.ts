// Loads the types of Node.js, if they are installed, for users who do not list them in `types`. Only the entry point
// `zkwire` imports this file, because they contradict the types of Cloudflare Workers.
// oxlint-disable-next-line typescript/ban-ts-comment -- It is an error only if they are not installed.
// @ts-ignore: without them, the types of globals.d.ts apply.
/// <reference types="node" />
export {}
