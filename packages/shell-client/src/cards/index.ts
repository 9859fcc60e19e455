export { type ChartModel, readChart } from "./chart.ts";
export { type FormField, type FormModel, readForm } from "./form.ts";
export {
  type CheckedForm,
  checkForm,
  type FormValue,
  formRequest,
  type RawFormValues,
} from "./form-values.ts";
export { readTable, type TableModel } from "./table.ts";
export { cardField, cardLine, safeLine } from "./values.ts";
