export default async function stopServers() {
  await globalThis.holdpointTestServers.stop();
}
