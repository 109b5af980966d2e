/**
 * Paths below `/v1` that a vendor's client asks for and our administration has too, by kind. Where the client sends
 * `anthropic-version` its vendor's is meant, else ours; below `/v1/proxy` always the vendor's.
 */
export const COLLISIONS: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['/deployments', '/deployments/deployment_1'],
}
