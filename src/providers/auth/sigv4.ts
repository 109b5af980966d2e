export * from '../../base/sigv4.ts'
