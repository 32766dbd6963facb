/**
 * diffeo-tables as one file for pages without a bundler, with the parts of the library that a page
 * needs to call it: domains of columns, keys of random numbers, the settings of the page.
 */
export * from "diffeo/domain";
export { configureWeb, random } from "diffeo/web";
export * from "./index.ts";
