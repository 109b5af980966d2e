/**
 * The parts of prom-client's default metrics, each of which adds its own; the package has types for all of them
 * together only.
 */
declare module 'prom-client/lib/metrics/*.js' {
  export default function add(
    registry: import('prom-client').Registry,
    config: {prefix: string; eventLoopMonitoringPrecision?: number},
  ): void
}
