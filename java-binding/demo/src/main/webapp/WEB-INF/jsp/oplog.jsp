<%@ page contentType="text/html;charset=UTF-8" pageEncoding="UTF-8" session="false" trimDirectiveWhitespaces="true" %>
<%@ taglib prefix="c" uri="http://java.sun.com/jsp/jstl/core" %>
<%@ taglib prefix="spring" uri="http://www.springframework.org/tags" %>
<c:set var="base" value="${pageContext.request.contextPath}"/>
<!DOCTYPE html>
<html lang="<spring:message code="language"/>">
<head>
  <meta charset="UTF-8">
  <title><spring:message code="page.title"/> - <spring:message code="system.name"/></title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="${base}/easyui/css/easyui.css">
  <link rel="stylesheet" href="${base}/static/wms.css">
  <script src="${base}/easyui/js/jquery.min.js"></script>
  <script src="${base}/easyui/js/jquery.easyui.min.js"></script>
</head>
<body class="easyui-layout">

<div class="wms-head" data-options="region:'north',border:false">
  <div class="wms-name">WMS <span><spring:message code="system.name"/></span></div>
  <div class="wms-user">
    <label for="usercode"><spring:message code="user"/></label>
    <input id="usercode" class="easyui-combobox" value="u1001" style="width:100px;height:26px"
           data-options="valueField:'id',textField:'id',panelHeight:'auto',data:[{id:'u1001'},{id:'u1002'},{id:'u1003'}]">
    <span class="wms-languages">
      <a href="?lang=zh-CN">中文</a><a href="?lang=en">English</a><a href="?lang=ja">日本語</a><a href="?lang=ko">한국어</a>
    </span>
  </div>
</div>

<div data-options="region:'west',split:true,width:280,title:'<spring:message code="summary.title" javaScriptEscape="true"/>'">
  <table id="summary"></table>
</div>

<div data-options="region:'center',title:'<spring:message code="page.title" javaScriptEscape="true"/>'">
  <div class="easyui-layout" data-options="fit:true">
    <div class="wms-filters" data-options="region:'north',border:false">
      <label for="warehouse"><spring:message code="filter.warehouse"/></label>
      <select id="warehouse" class="easyui-combobox" style="width:120px;height:26px" data-options="editable:false,panelHeight:'auto'">
        <option value=""><spring:message code="filter.all"/></option>
        <c:forEach var="warehouse" items="${warehouses}"><option>${warehouse}</option></c:forEach>
      </select>
      <label for="opType"><spring:message code="filter.type"/></label>
      <select id="opType" class="easyui-combobox" style="width:120px;height:26px" data-options="editable:false,panelHeight:'auto'">
        <option value=""><spring:message code="filter.all"/></option>
        <option value="IN"><spring:message code="type.IN"/></option>
        <option value="OUT"><spring:message code="type.OUT"/></option>
        <option value="MOVE"><spring:message code="type.MOVE"/></option>
        <option value="COUNT"><spring:message code="type.COUNT"/></option>
      </select>
      <label for="material"><spring:message code="filter.material"/></label>
      <input id="material" class="easyui-textbox" style="width:160px;height:26px">
      <a id="query" href="#" class="easyui-linkbutton" data-options="iconCls:'wms-icon-query'"><spring:message code="query"/></a>
      <a id="reset" href="#" class="easyui-linkbutton" data-options="iconCls:'wms-icon-reset'"><spring:message code="reset"/></a>
    </div>
    <div data-options="region:'center',border:false">
      <table id="log"></table>
    </div>
  </div>
</div>

<script>
  var WMS = {
    base: '${base}',
    firstPage: ${firstPage},
    types: {
      IN: '<spring:message code="type.IN" javaScriptEscape="true"/>',
      OUT: '<spring:message code="type.OUT" javaScriptEscape="true"/>',
      MOVE: '<spring:message code="type.MOVE" javaScriptEscape="true"/>',
      COUNT: '<spring:message code="type.COUNT" javaScriptEscape="true"/>'
    },
    text: {<c:forEach var="code" varStatus="at"
        items="col.opNo,col.opTime,col.opType,col.warehouse,col.location,col.material,col.materialName,col.batch,col.qty,col.unit,col.balance,col.operator,summary.operations,summary.last,footer.totals,grid.loading,pager.before,pager.after,pager.display,message.title,message.unreachable">
      '${code}': '<spring:message code="${code}" javaScriptEscape="true"/>'<c:if test="${!at.last}">,</c:if></c:forEach>
    }
  };
</script>
<script src="${base}/static/oplog.js"></script>
</body>
</html>
