import { InvalidSettings } from '../../settings/invalid-settings.ts'
import { scopeName } from './telemetry.ts'

/**
 * Aggregates measurements for Prometheus. Loads the OpenTelemetry SDK and the Prometheus exporter, which only `/metrics`
 * needs.
 * @throws InvalidSettings if the packages are not installed
 */
export const prometheus = async () => {
  const [{ MeterProvider }, { PrometheusExporter, PrometheusSerializer }] = await packages()
  const reader = new PrometheusExporter({ preventServerStart: true })
  const provider = new MeterProvider({ readers: [reader] })
  // Omit information about the process, because Prometheus labels each target itself.
  const serializer = new PrometheusSerializer(undefined, false, undefined, true, true)
  return {
    meter: provider.getMeter(scopeName),
    /** Returns all measurements in the text format of Prometheus. */
    async scrape() {
      const { resourceMetrics } = await reader.collect()
      return serializer.serialize(resourceMetrics)
    },
    close: () => provider.shutdown(),
  }
}

const packages = async () => {
  try {
    return await Promise.all([
      import('@opentelemetry/sdk-metrics'),
      import('@opentelemetry/exporter-prometheus'),
    ])
  } catch {
    throw new InvalidSettings([
      'metricsToken (OAUTH2SERVER_METRICS_TOKEN) needs two packages: npm install @opentelemetry/sdk-metrics @opentelemetry/exporter-prometheus',
    ])
  }
}
